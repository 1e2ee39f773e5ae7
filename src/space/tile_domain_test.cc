#include "space/tile_domain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tilewright::space {
namespace {

// The numbers of choices equal those of Ansor.
TEST(TileDomain, IsExactWithoutTails) {
  const std::pair<int64_t, size_t> four_levels[] = {
      {1, 1},   {7, 4},     {14, 16},   {28, 40},   {56, 80},
      {64, 84}, {128, 119}, {256, 161}, {512, 210}, {1024, 266},
  };
  for (const auto& [extent, count] : four_levels) {
    const auto domain = tile_domain({.extent = extent, .factors = 3});
    EXPECT_EQ(domain.choices.size(), count) << extent;
    EXPECT_FALSE(leaves_remainder(domain));
  }
  for (const int64_t extent : {64, 128, 1024, 65536}) {
    EXPECT_EQ(tile_domain({.extent = extent}).choices.size(), 7U) << extent;
  }
  // Five levels, as for GPUs.
  EXPECT_EQ(tile_domain({.extent = 56, .factors = 4}).choices.size(), 175U);
  EXPECT_EQ(tile_domain({.extent = 512, .factors = 4}).choices.size(), 700U);
  EXPECT_EQ(tile_domain({.extent = 13, .max_innermost = 8}).choices.size(), 1U);
}

TEST(TileDomain, ChoicesDivideAndDiffer) {
  const auto domain = tile_domain({.extent = 96, .factors = 3, .max_innermost = 16});
  std::set<std::vector<int64_t>> seen;
  for (const schedule::Factors& factors : domain.choices) {
    ASSERT_EQ(factors.size(), 3U);
    EXPECT_EQ(96 % schedule::product_of(factors), 0);
    EXPECT_LE(factors.back(), 16);
    seen.emplace(factors.begin(), factors.end());
  }
  EXPECT_EQ(seen.size(), domain.choices.size());
}

TEST(TileDomain, TailsAreSmall) {
  for (const int64_t extent : {1, 2, 7, 13, 14, 56, 109, 509, 1000, 14336}) {
    for (const int64_t lanes : {0, 8, 16}) {
      const auto domain =
          tile_domain({.extent = extent, .factors = 3, .tails = true, .lanes = lanes});
      ASSERT_FALSE(domain.choices.empty());
      EXPECT_LE(domain.choices.size(), kMaxTileChoices);
      for (size_t k = 0; k < domain.choices.size(); ++k) {
        const schedule::Factors& f = domain.choices[k];
        const int64_t tiles = (extent + f[2] - 1) / f[2];
        EXPECT_LE(tiles * f[2], extent + extent / 3) << extent;
        if (lanes > 0 && extent >= lanes && extent > 64) {
          EXPECT_EQ(f[2] % lanes, 0) << extent;
        }
        EXPECT_LE(schedule::product_of(f), 4 * extent);
        if (k > 0) {
          const schedule::Factors& before = domain.choices[k - 1];
          EXPECT_TRUE(
              std::lexicographical_compare(before.begin(), before.end(), f.begin(), f.end()));
        }
      }
    }
  }
  EXPECT_TRUE(leaves_remainder(tile_domain({.extent = 109, .tails = true})));
}

}  // namespace
}  // namespace tilewright::space
