#include "base/saturating.h"

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

TEST(Saturating, ProductsEndAtTheLargestNumber) {
  EXPECT_EQ(saturating_product(std::vector<int64_t>{}), 1);
  EXPECT_EQ(saturating_product(std::vector<int64_t>{2, 0, 3}), 0);
  EXPECT_EQ(saturating_product(std::vector<int64_t>{2, 3, 5}), 30);
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(saturating_product(std::vector{large, large}), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace tilewright
