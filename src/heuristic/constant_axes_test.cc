#include "heuristic/constant_axes.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

constexpr const char* kWinograd =
    "conv2d_winograd:h=12,w=12,ci=64,co=72,pad=1,m=4,weight=transformed";

TEST(ConstantAxes, TransformByConstantMatrixIsUnrolled) {
  const Workbench bench(kWinograd);
  const Target target = parse_target("x86-64-v4;threads=1").value();
  schedule::TraceBuilder builder(bench.initial());
  Tiling tiling{builder, target, {}};
  const schedule::StageIndex stage = tiling.tree().find_stage(stage_of("V"));
  ASSERT_TRUE(tile_transform(tiling, stage));
  const schedule::Stage& made = tiling.tree().stage(stage);
  for (const char* loop : {"a", "b", "ra", "rb"}) {
    const schedule::VarIndex found = tiling.tree().find_loop(stage, Name(loop));
    ASSERT_NE(found, schedule::kNone) << loop;
    EXPECT_EQ(tiling.tree().var(found).annotation, schedule::Annotation::Unroll) << loop;
  }
  const schedule::LoopVar& last = tiling.tree().var(made.loops.back());
  EXPECT_EQ(last.annotation, schedule::Annotation::Vectorize);
  EXPECT_EQ(last.extent, 16);
}

TEST(ConstantAxes, OtherStagesAreUnchanged) {
  const Workbench bench("matmul:m=64,n=64,k=64");
  const Target target = parse_target("x86-64-v4;threads=1").value();
  schedule::TraceBuilder builder(bench.initial());
  Tiling tiling{builder, target, {}};
  const schedule::StageIndex stage = tiling.tree().find_stage(stage_of("C"));
  EXPECT_FALSE(tile_transform(tiling, stage));
  unroll_constants(tiling, stage);
  EXPECT_TRUE(builder.trace().steps.empty());
}

TEST(ConstantAxes, TransformsNeedVectors) {
  const Workbench bench(kWinograd);
  const Target target = parse_target("x86-64-v4;threads=1").value();
  schedule::TraceBuilder builder(bench.initial());
  Tiling tiling{builder, target, {.vectors = false}};
  EXPECT_FALSE(tile_transform(tiling, tiling.tree().find_stage(stage_of("V"))));
}

}  // namespace
}  // namespace tilewright::heuristic
