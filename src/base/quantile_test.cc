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

}  // namespace
}  // namespace tilewright
