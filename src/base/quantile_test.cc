#include "base/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

TEST(Quantile, IsLinearBetweenTwoSamples) {
  EXPECT_EQ(quantile_of({}, 0.5), 0);
  EXPECT_EQ(quantile_of(std::vector<double>{7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(quantile_of(std::vector<double>{1, 2, 3, 4, 5}, 0.1), 1.4);
  EXPECT_EQ(quantile_of(std::vector<double>{1, 2, 3}, 0), 1);
  EXPECT_EQ(quantile_of(std::vector<double>{1, 2, 3}, 1), 3);
}

TEST(Quantile, SamplesMayHaveAnyOrder) {
  EXPECT_EQ(quantile_of_unsorted({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(quantile_of_unsorted({4, 2, 1, 5, 3}, 0.1), 1.4);
  EXPECT_DOUBLE_EQ(median_of({9, 1}), 5);
  EXPECT_DOUBLE_EQ(median_of({9, 1, 2}), 2);
}

}  // namespace
}  // namespace tilewright
