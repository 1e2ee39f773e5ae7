#include "space/row_layout.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

// One hole of three factors: blocks per task, tiles per block, rows per tile.
TEST(RowLayout, OneHoleSplitsRowsOfBothStages) {
  LayoutBench bench("attention:b=1,heads=2,seq=64,dim=32");
  const RowStage rowed{.stage = {Name("C")}, .root = {Name("E")}, .lead = 3};
  const PlainLoops loops = lay_out_plain(bench.layout, bench.op("E"), 3, RowBlocks::Shared);
  const size_t holes = bench.draft.sketch.holes.size();
  const TiledStage tiled = lay_out_rows(bench.layout, rowed, loops);
  EXPECT_EQ(bench.steps(),
            "split E i [1, 1]\n"
            "split E j [16]\n"
            "reorder E [b, h, i.0, i.1, i.2, j.0, j.1]\n"
            "annotate E j.1 vectorize\n"
            "split C i [1]\n"
            "split C j [16]\n"
            "split C k [1]\n"
            "reorder C [b, h, j.0, i.0, k.0, k.1, i.1, j.1]\n"
            "annotate C i.1 unroll\n"
            "annotate C j.1 vectorize\n"
            "annotate C k.1 unroll\n"
            "compute_at C E i.1\n");
  EXPECT_EQ(bench.holes(), "tile E 3, tile C 78, tile C 3, tile C 4");
  const schedule::Hole& hole = bench.draft.sketch.holes.at(holes);
  const auto& domain = std::get<schedule::TileDomain>(hole.domain);
  EXPECT_EQ(domain.extent, 64);
  ASSERT_EQ(domain.slices.size(), 2U);
  EXPECT_EQ(domain.slices[0].step, loops.row_step);
  EXPECT_TRUE(domain.slices[0].folds);
  EXPECT_EQ(domain.slices[1].from, 2);
  EXPECT_EQ(tiled.outer.at(1), std::vector<Name>{loops.block});
}

}  // namespace
}  // namespace tilewright::space
