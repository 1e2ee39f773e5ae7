#include "space/tiled_layout.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

std::vector<Name> names(std::initializer_list<const char*> texts) {
  std::vector<Name> names;
  for (const char* text : texts) names.emplace_back(text);
  return names;
}

// SSRS of a product: two spatial levels, k, and a tile in registers.
TiledStage product(const LayoutBench& bench) {
  const StageName stage{Name("C")};
  TiledStage tiled{.inner = stage,
                   .owner = stage,
                   .op = bench.op("C"),
                   .structure = "SSRS",
                   .owner_lane = Name("j.2"),
                   .inner_lane = Name("j.2"),
                   .lane_axis = 1};
  tiled.outer = {names({"i.0", "j.0"}), names({"i.1", "j.1"})};
  tiled.inner_levels = {names({"k.0"}), names({"k.1"}), names({"i.2", "j.2"})};
  tiled.inner_reduces = {true, true, false};
  return tiled;
}

TEST(TiledLayout, SharesTheOutermostLevelAndUnrollsTheInnermost) {
  LayoutBench bench("matmul:m=64,n=64,k=64");
  EXPECT_EQ(lay_out_tiled(bench.layout, product(bench)).text(), "(i.0,j.0)");
  EXPECT_EQ(bench.steps(),
            "reorder C [i.0, j.0, i.1, j.1, k.0, k.1, i.2, j.2]\n"
            "fuse C [i.0, j.0]\n"
            "annotate C (i.0,j.0) parallel\n"
            "annotate C i.2 unroll\n"
            "annotate C j.2 vectorize\n"
            "annotate C k.1 unroll\n");
  EXPECT_EQ(bench.holes(), "other C 2");
  EXPECT_EQ(bench.choice(0, 1), "reorder C [i.0, j.0, j.1, i.1, k.0, k.1, i.2, j.2]");
}

TEST(TiledLayout, HasOneOrderWithoutTileStructures) {
  LayoutBench bench("matmul:m=64,n=64,k=64", {"tile_structures"});
  lay_out_tiled(bench.layout, product(bench));
  EXPECT_EQ(bench.holes(), "");
}

// Little work: threads are a choice.
TEST(TiledLayout, SmallWorkMayOmitThreads) {
  LayoutBench bench("matmul:m=16,n=16,k=16", {"tile_structures"});
  lay_out_tiled(bench.layout, product(bench));
  EXPECT_EQ(bench.holes(), "parallel C 2");
}

// The tile is computed by a separate stage, in the second level of the stage that copies it.
TEST(TiledLayout, AttachesTheInnerStage) {
  LayoutBench bench("matmul:m=64,n=64,k=64", {"tile_structures"});
  TiledStage tiled = product(bench);
  tiled.inner = {Name("C"), schedule::StageRole::Write};
  tiled.owner_tile = {names({"i.2", "j.2"})};
  tiled.inner_levels = {names({"k.0"}), names({"k.1"}), names({"i", "j"})};
  tiled.inner_lane = Name("j");
  lay_out_tiled(bench.layout, tiled);
  EXPECT_EQ(bench.steps(),
            "reorder C [i.0, j.0, i.1, j.1, i.2, j.2]\n"
            "fuse C [i.0, j.0]\n"
            "annotate C (i.0,j.0) parallel\n"
            "compute_at C.write C j.1\n"
            "annotate C i.2 unroll\n"
            "annotate C j.2 vectorize\n"
            "reorder C.write [k.0, k.1, i, j]\n"
            "annotate C.write i unroll\n"
            "annotate C.write j vectorize\n"
            "annotate C.write k.1 unroll\n");
}

}  // namespace
}  // namespace tilewright::space
