#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>

namespace tilewright {
namespace {

// The same on every machine: searches are replayed by seed.
TEST(Rng, IsStable) {
  Rng rng(42);
  EXPECT_EQ(rng.next(), 1546998764402558742u);
  EXPECT_EQ(rng.next(), 6990951692964543102u);
}

TEST(Rng, IsAFunctionOfTheSeed) {
  Rng a(1);
  Rng b(1);
  Rng c(2);
  int equal = 0;
  for (int k = 0; k < 100; ++k) {
    const uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    equal += x == c.next();
  }
  EXPECT_EQ(equal, 0);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(7);
  std::array<int, 6> counts = {};
  for (int k = 0; k < 60000; ++k) ++counts[rng.below(6)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(3);
  bool low = false;
  bool high = false;
  for (int k = 0; k < 1000; ++k) {
    const int64_t x = rng.between(-2, 3);
    ASSERT_GE(x, -2);
    ASSERT_LE(x, 3);
    low |= x == -2;
    high |= x == 3;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(rng.between(5, 5), 5);
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng(9);
  double sum = 0;
  for (int k = 0; k < 10000; ++k) {
    const double x = rng.uniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Rng, ChanceAtTheEnds) {
  Rng rng(11);
  for (int k = 0; k < 100; ++k) {
    EXPECT_FALSE(rng.chance(0.0));
    EXPECT_TRUE(rng.chance(1.0));
  }
}

}  // namespace
}  // namespace tilewright
