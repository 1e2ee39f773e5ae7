#include "heuristic/tile_sizes.h"

#include <gtest/gtest.h>

namespace tilewright::heuristic {
namespace {

TEST(TileSizes, Divisors) {
  EXPECT_EQ(divisors_of(36), (std::vector<int64_t>{1, 2, 3, 4, 6, 9, 12, 18, 36}));
  EXPECT_EQ(divisors_of(1), (std::vector<int64_t>{1}));
  EXPECT_EQ(divisors_of(2147483647), (std::vector<int64_t>{1, 2147483647}));
  EXPECT_EQ(divisors_of(735134400).size(), 1344U);
  EXPECT_EQ(divisor_within(56, 7, 14), 14);
  EXPECT_EQ(divisor_within(55, 7, 14), 11);
  EXPECT_EQ(divisor_within(53, 7, 14), 14);  // none divides
  EXPECT_EQ(divisor_within(29, 7, 14), 10);  // 10 + 10 + 9, not 14 + 14 + 1
  EXPECT_EQ(divisor_within(29, 12, 14), 10);
  EXPECT_EQ(divisor_within(17, 7, 14), 9);
}

TEST(TileSizes, VectorsAreWhole) {
  EXPECT_EQ(vector_tile(10, 16, 4), 10);  // the axis is shorter
  EXPECT_EQ(vector_tile(64, 16, 4), 64);
  EXPECT_EQ(vector_tile(128, 16, 4), 64);
  EXPECT_EQ(vector_tile(96, 16, 4), 48);  // three divide it
  EXPECT_EQ(vector_tile(80, 16, 4), 64);  // one would, which is too few
}

TEST(TileSizes, RemaindersUpToThirtyPercentAreAllowed) {
  EXPECT_TRUE(wastes_little(100, 32));   // 128
  EXPECT_TRUE(wastes_little(100, 65));   // 130
  EXPECT_FALSE(wastes_little(100, 66));  // 132
}

TEST(TileSizes, ListsEndAtTheLargestSize) {
  const auto list = [](std::span<const int64_t> sizes) {
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  };
  EXPECT_EQ(list(powers_of_two(8)), (std::vector<int64_t>{1, 2, 4, 8}));
  EXPECT_EQ(list(powers_of_two(7)), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(list(powers_of_two(0)), std::vector<int64_t>());
  EXPECT_EQ(powers_of_two(1000).back(), 256);
  EXPECT_EQ(list(block_sizes(16)), (std::vector<int64_t>{1, 2, 3, 4, 6, 8, 12, 16}));
  EXPECT_EQ(list(register_rows(14)), (std::vector<int64_t>{1, 2, 3, 4, 6, 8, 12, 14}));
}

TEST(TileSizes, RemaindersFollowWholeTiles) {
  EXPECT_TRUE(may_tile(24, 12, false));
  EXPECT_FALSE(may_tile(25, 6, false));
  EXPECT_TRUE(may_tile(25, 6, true));   // four tiles and 1
  EXPECT_FALSE(may_tile(25, 7, true));  // three tiles and 4
  EXPECT_FALSE(may_tile(25, 6, true, 8));
  EXPECT_TRUE(may_tile(25, 30, true, 0));
  EXPECT_FALSE(may_tile(25, 30, true, 1));
}

TEST(TileSizes, AccumulatorsLeaveRegistersForOperands) {
  EXPECT_EQ(sums_in_registers(parse_target("x86-64-v4;threads=1").value()), 28);
  EXPECT_EQ(sums_in_registers(parse_target("x86-64-v3;threads=1").value()), 12);
}

}  // namespace
}  // namespace tilewright::heuristic
