#include "heuristic/chain_tiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heuristic/nest_plan.h"
#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::Workbench;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct TiledChain {
  bool tiled = false;
  std::string steps;
};

TiledChain tile(const char* workload, const char* target_text, bool shares_axes = true) {
  const Workbench bench(workload);
  const Target target = parse_target(target_text).value();
  schedule::TraceBuilder builder(bench.initial());
  Tiling tiling{builder, target, {}};
  StageTiler tiler(tiling);
  const auto [root, last] = *plan_nests(tiling.tree(), 4).pairs.begin();
  Chain chain = find_chain(tiling.tree(), root, last).value();
  if (!shares_axes) {
    chain.shared.clear();
    chain.rows = -1;
  }
  const bool tiled = tile_chain(tiling, tiler, chain);
  EXPECT_TRUE(builder.is_legal());
  return {tiled, schedule::to_text(builder.trace())};
}

TEST(ChainTiler, MembersAreComputedByBlocksOfRows) {
  const TiledChain chain = tile("attention:b=2,heads=4,seq=128,dim=64", "x86-64-v4;threads=2");
  EXPECT_TRUE(chain.tiled);
  EXPECT_THAT(chain.steps, StartsWith("split Y i [64]\n"
                                      "reorder Y [b, h, i.0, i.1, d]\n"
                                      "fuse Y [b, h, i.0]\n"
                                      "annotate Y d vectorize\n"
                                      "annotate Y (b,h,i.0) parallel\n"));
  for (const char* member : {"O", "R", "S", "E", "M", "C"}) {
    EXPECT_THAT(chain.steps, HasSubstr(std::string("compute_at ") + member + " Y (b,h,i.0)\n"));
  }
  // A product is tiled for registers, and its operand with gaps is copied.
  EXPECT_THAT(chain.steps, HasSubstr("reorder C [b, h, j.0, i.0, k, i.1, j.1]\n"));
  EXPECT_THAT(chain.steps, HasSubstr("cache_read K [C]\npack K.read C\n"));
}

TEST(ChainTiler, OneThreadHasNoParallelLoop) {
  const TiledChain chain = tile("attention:b=2,heads=4,seq=128,dim=64", "x86-64-v4;threads=1");
  EXPECT_TRUE(chain.tiled);
  EXPECT_THAT(chain.steps, Not(HasSubstr("parallel")));
}

TEST(ChainTiler, NoSharedAxesNoNest) {
  const TiledChain chain =
      tile("attention:b=2,heads=4,seq=128,dim=64", "x86-64-v4;threads=2", false);
  EXPECT_FALSE(chain.tiled);
  EXPECT_EQ(chain.steps, "");
}

}  // namespace
}  // namespace tilewright::heuristic
