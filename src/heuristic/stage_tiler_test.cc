#include "heuristic/stage_tiler.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

// The trace that one call of a StageTiler makes.
class StageTilerTest : public ::testing::Test {
 protected:
  template <class Call>
  std::string steps(const char* workload, Call call) const {
    const Workbench bench(workload);
    schedule::TraceBuilder builder(bench.initial());
    Tiling tiling{builder, target_, {}};
    StageTiler tiler(tiling);
    call(tiler, tiling.tree());
    EXPECT_TRUE(builder.is_legal());
    return schedule::to_text(builder.trace());
  }
  static schedule::StageIndex find(const schedule::LoopTree& tree, const char* name) {
    return tree.find_stage(stage_of(name));
  }

  const Target target_ = parse_target("x86-64-v4;threads=2").value();
};

TEST_F(StageTilerTest, AProductIsTiledForRegisters) {
  EXPECT_EQ(
      steps("matmul:m=512,n=512,k=512,constant=B",
            [](StageTiler& tiler, const auto& tree) { tiler.tile_root(find(tree, "C")); }),
      "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\nannotate C j.0 parallel\n"
      "annotate C j.1 vectorize\nannotate C i.1 unroll\npack B C\nprefetch_next C k B\n");
}

TEST_F(StageTilerTest, ElementwiseStagesAreVectorizedAndParallel) {
  EXPECT_EQ(
      steps("elementwise:shape=1024x1024,chain=relu",
            [](StageTiler& tiler, const auto& tree) { tiler.tile_root(find(tree, "Y")); }),
      "split Y j [64]\nreorder Y [i, j.0, j.1]\nannotate Y i parallel\nannotate Y j.1 vectorize\n");
}

TEST_F(StageTilerTest, AnInnerStageHasNoThreads) {
  EXPECT_EQ(steps("elementwise:shape=1024x1024,chain=relu",
                  [](StageTiler& tiler, const auto& tree) { tiler.tile_inner(find(tree, "Y")); }),
            "split Y j [64]\nreorder Y [i, j.0, j.1]\nannotate Y j.1 vectorize\n");
}

TEST_F(StageTilerTest, LeadingAxesAreOneParallelLoop) {
  std::string loop;
  EXPECT_EQ(steps("softmax:m=1024,n=64",
                  [&](StageTiler& tiler, const auto& tree) {
                    loop = tiler.tile_led(find(tree, "Y"), 1, true).value().text();
                  }),
            "split Y i [32]\nreorder Y [i.0, i.1, j]\nannotate Y j vectorize\n"
            "annotate Y i.0 parallel\n");
  EXPECT_EQ(loop, "i.0");
}

TEST_F(StageTilerTest, ProducerIsComputedInTilesOfItsReader) {
  EXPECT_EQ(steps("conv2d_bias_bn_relu:n=1,h=32,w=32,ci=32,co=64,kernel=1",
                  [](StageTiler& tiler, const auto& tree) {
                    tiler.tile_pair(find(tree, "T1"), find(tree, "C"));
                  }),
            "split T1 x [8]\nsplit T1 c [32]\nreorder T1 [c.0, n, y, x.0, x.1, c.1]\n"
            "fuse T1 [c.0, n, y]\nannotate T1 (c.0,n,y) parallel\nannotate T1 c.1 vectorize\n"
            "annotate T1 x.1 unroll\ncompute_at C T1 x.0\n"
            "reorder C [n, y, ry, rx, rc, x, c]\nannotate C c vectorize\n"
            "annotate C x unroll\npack W C\n");
}

}  // namespace
}  // namespace tilewright::heuristic
