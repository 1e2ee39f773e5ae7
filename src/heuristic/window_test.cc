#include "heuristic/window.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

const Target& target() {
  static const Target found = parse_target("x86-64-v4;threads=2").value();
  return found;
}

TEST(Window, TapsShiftASpatialAxis) {
  const Workbench bench("conv2d:n=1,h=8,w=8,ci=4,co=8,kernel=3,pad=1");
  const schedule::LoopTree tree = bench.tree("");
  const Window window = window_of(tree, tree.find_stage(stage_of("Y")));
  EXPECT_EQ(window.size, 9);
  EXPECT_EQ(window.widest, 3);
  EXPECT_EQ(window.others, 4);
  EXPECT_EQ(window.slides, (std::vector{1, 2}));  // y, x
  EXPECT_TRUE(window_of(tree, tree.find_stage(stage_of("P"))).empty());
}

TEST(Window, ProductsHaveNoWindow) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  const schedule::LoopTree tree = bench.tree("");
  EXPECT_TRUE(window_of(tree, tree.find_stage(stage_of("C"))).empty());
}

TEST(Window, WeightsOfATransposedConvolutionRepeat) {
  for (const auto& [workload, rows] :
       {std::pair{"conv2d_transpose:n=1,h=8,w=8,ci=32,co=32,kernel=4,stride=2,pad=1", 2},
        std::pair{"conv2d_transpose:n=1,h=8,w=8,ci=32,co=32,kernel=8,stride=8", kNoAxis},
        std::pair{"conv2d:n=1,h=8,w=8,ci=4,co=8,kernel=3,pad=1", kNoAxis}}) {
    const Workbench bench(workload);
    const schedule::LoopTree tree = bench.tree("");
    const schedule::StageIndex stage = tree.find_stage(stage_of("Y"));
    const AxisRoles roles = axis_roles(tree, stage, target(), true);
    EXPECT_EQ(phased_axis(tree, stage, roles), rows) << workload;
  }
}

struct Case {
  const char* workload;
  const char* stage;
  bool light;
  bool inlines;  // the border P
};

constexpr Case kCases[] = {
    {"depthwise_conv2d:n=1,h=16,w=16,ci=32,co=32,kernel=3,pad=1", "Y", true, true},
    {"depthwise_conv2d:n=1,h=16,w=16,ci=32,co=32,kernel=7,pad=3", "Y", false, false},  // 49 taps
    {"pool:op=max,spatial=16x16,c=64,kernel=3,stride=2,pad=1", "Y", true, true},
    {"conv2d:n=1,h=16,w=16,ci=32,co=32,kernel=3,pad=1", "Y", false, true},
    {"conv2d:n=1,h=16,w=16,ci=32,co=32,kernel=5,pad=2", "Y", false, false},  // too many taps
    {"conv2d_transpose:n=1,h=8,w=8,ci=32,co=32,kernel=4,stride=2,pad=1", "Y", false, true},
    {"conv2d_transpose:n=1,h=1,w=1,ci=64,co=32,kernel=4", "Y", false, true},  // nearly all border
    {"conv2d:n=1,h=16,w=16,ci=3,co=32,kernel=3,pad=1", "Y", false, false},    // too little per tap
};

TEST(Window, DecidesBordersByTheirReaders) {
  for (const Case& each : kCases) {
    const Workbench bench(each.workload);
    const schedule::LoopTree tree = bench.tree("");
    EXPECT_EQ(is_light_window(tree, tree.find_stage(stage_of(each.stage)), target()), each.light)
        << each.workload;
    EXPECT_EQ(pays_inlined_border(tree, tree.find_stage(stage_of("P")), target()), each.inlines)
        << each.workload;
  }
}

}  // namespace
}  // namespace tilewright::heuristic
