#include "app/verdicts.h"

#include <gtest/gtest.h>

namespace tilewright::app {
namespace {

TEST(Verdicts, RangeOfSamplesInAnyOrder) {
  const SampleRange range = range_of({3, 1, 4, 2});
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.median, 2.5);
  EXPECT_EQ(range.max, 4);
  EXPECT_EQ(range_of({}).max, 0);
}

TEST(Verdicts, RatesOfUnknownTimesAreZero) {
  EXPECT_EQ(gflops_of(200, 100), 2);
  EXPECT_EQ(gflops_of(200, 0), 0);
  EXPECT_EQ(gflops_of(0, 100), 0);
}

}  // namespace
}  // namespace tilewright::app
