#include "space/sum_layout.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

TiledStage product(const LayoutBench& bench) {
  const StageName stage{Name("C")};
  return {.inner = stage,
          .owner = {Name("Y")},
          .op = bench.op("C"),
          .owner_lane = {},
          .inner_lane = {},
          .lane_axis = 1};
}

TEST(SumLayout, KeepsRowsAndVectorsInRegisters) {
  LayoutBench bench("matmul:m=64,n=64,k=64");
  bench.writer.add(schedule::Split{{Name("C")}, Name("i"), {4}});
  TiledStage tiled = product(bench);
  lay_out_sums(bench.layout, &tiled, 0, 4);
  EXPECT_EQ(bench.steps(),
            "split C i [4]\n"
            "split C j [16]\n"
            "split C k [1]\n"
            "reorder C [j.0, i.0, k.0, k.1, i.1, j.1]\n"
            "annotate C i.1 unroll\n"
            "annotate C j.1 vectorize\n"
            "annotate C k.1 unroll\n");
  EXPECT_EQ(bench.holes(), "tile C 3, tile C 4");
  EXPECT_EQ(tiled.inner_lane.text(), "j.1");
  ASSERT_EQ(tiled.inner_levels.size(), 2U);
  EXPECT_EQ(tiled.inner_levels[0], std::vector<Name>{Name("k.0")});
  EXPECT_EQ(tiled.inner_reduces, (std::vector<bool>{true, false}));
}

// A short axis is one tile; without unroll_and_jam the reduction stays whole.
TEST(SumLayout, KeepsShortAxesWhole) {
  LayoutBench bench("matmul:m=64,n=16,k=64", {"unroll_and_jam"});
  TiledStage tiled = product(bench);
  lay_out_sums(bench.layout, &tiled, -1, 4);
  EXPECT_EQ(bench.steps(),
            "reorder C [i, k, j]\n"
            "annotate C j vectorize\n");
  EXPECT_EQ(bench.holes(), "");
}

}  // namespace
}  // namespace tilewright::space
