#include "space/chain_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heuristic/nest_plan.h"
#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ChainLayout, PlacesAllMembersAtTheRowsOfTheRoot) {
  LayoutBench bench("attention:b=1,heads=2,seq=64,dim=32");
  const auto root = LayoutContext::index_of(bench.op("Y"));
  const heuristic::NestPlan plan = heuristic::plan_nests(bench.plain, 2);
  const auto chain = heuristic::find_chain(bench.plain, root, plan.pairs.at(root));
  ASSERT_TRUE(chain.has_value());
  lay_out_chain(bench.layout, *chain);
  EXPECT_THAT(bench.steps(), StartsWith("split Y i [1]\nreorder Y [b, h, i.0, i.1, d]\n"
                                        "fuse Y [b, h, i.0]\nannotate Y (b,h,i.0) parallel\n"));
  for (const char* member : {"O", "R", "S", "E", "M", "C"}) {
    EXPECT_THAT(bench.steps(), HasSubstr(fmt::format("compute_at {} Y (b,h,i.0)\n", member)));
  }
  EXPECT_THAT(bench.steps(), HasSubstr("reorder C [b, h, j.0, i.0, k.0, k.1, i.1, j.1]\n"));
  EXPECT_EQ(bench.holes(),
            "tile O 2, tile O 4, tile R 3, tile S 3, tile E 3, tile M 3, tile C 3, tile C 4, "
            "tile Y 35, pack O 5, pack C 5");
  // Tiles per block and rows per tile: the root takes their product, the products the rows.
  const auto& rows = std::get<schedule::TileDomain>(bench.draft.sketch.holes.at(8).domain);
  ASSERT_EQ(rows.slices.size(), 3U);
  EXPECT_TRUE(rows.slices[0].folds);
  EXPECT_EQ(rows.slices[1].from, 1);
  EXPECT_EQ(rows.slices[2].from, 1);
}

}  // namespace
}  // namespace tilewright::space
