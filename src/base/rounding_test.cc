#include "base/rounding.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Rounding, IsUpToTheNextMultiple) {
  for (int64_t b = 1; b <= 9; ++b) {
    for (int64_t a = 0; a <= 40; ++a) {
      const int64_t quotient = ceil_div(a, b);
      EXPECT_GE(quotient * b, a) << a << " / " << b;
      EXPECT_LT(quotient * b, a + b) << a << " / " << b;
      EXPECT_EQ(round_up(a, b), quotient * b);
    }
  }
}

TEST(Rounding, KeepsLargeNumbers) {
  EXPECT_EQ(ceil_div(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(ceil_div(INT64_MAX - 2, 2), INT64_MAX / 2);
  EXPECT_EQ(round_up(size_t{4097}, 4096), size_t{8192});
}

}  // namespace
}  // namespace tilewright
