#include "heuristic/axis_roles.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

struct RoleCase {
  const char* workload;
  const char* stage;
  const char* vector;  // names of axes, `-` for none
  const char* rows;
  bool outside;
  int64_t run;
};

constexpr RoleCase kCases[] = {
    {"matmul:m=64,n=64,k=64", "C", "j", "i", true, 0},
    {"matmul:m=64,n=1,k=64", "C", "k", "-", false, 0},
    {"batch_matmul:b=8,m=64,n=64,k=64", "C", "j", "i", true, 0},
    {"conv2d:n=1,h=14,w=14,ci=64,co=64,kernel=3,pad=1", "Y", "c", "x", true, 0},
    {"conv2d:n=1,h=14,w=14,ci=64,co=64,kernel=3,pad=1,groups=4", "Y", "c", "x", false, 16},
    {"depthwise_conv2d:n=1,h=56,w=56,ci=64,kernel=3,pad=1", "Y", "c", "x", false, 0},
    {"softmax:m=64,n=64", "S", "k", "-", false, 0},
    {"softmax:m=64,n=64", "Y", "j", "-", false, 0},
    {"reduce:op=sum,shape=64x64,axes=0", "Y", "j", "-", false, 0},
    {"reduce:op=argmax,shape=64x64,axes=1", "Y", "i", "-", false, 0},
};

TEST(AxisRoles, FollowFromAccessStrides) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  for (const RoleCase& c : kCases) {
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree("");
    const StageIndex index = tree.find_stage(stage_of(c.stage));
    ASSERT_NE(index, kNone) << c.workload;
    const auto name = [&](int axis) {
      return axis == kNoAxis
                 ? std::string("-")
                 : tree.var(tree.stage(index).axes[static_cast<size_t>(axis)]).name.text();
    };
    const AxisRoles roles = axis_roles(tree, index, target, true);
    EXPECT_EQ(name(roles.vector), c.vector) << c.workload << " " << c.stage;
    if (std::string_view(c.rows) != "-") {
      EXPECT_EQ(name(roles.rows), c.rows) << c.workload << " " << c.stage;
    }
    EXPECT_EQ(roles.vector_outside, c.outside) << c.workload << " " << c.stage;
    EXPECT_EQ(roles.vector_run, c.run) << c.workload << " " << c.stage;
  }
}

TEST(AxisRoles, PackingMakesStridedAccessesContiguous) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  const Workbench bench("matmul:m=64,n=64,k=64,transpose_b=1");
  const LoopTree tree = bench.tree("");
  const StageIndex index = tree.find_stage(stage_of("C"));
  EXPECT_TRUE(axis_roles(tree, index, target, false).vector_reduces);
  EXPECT_EQ(axis_roles(tree, index, target, true).vector, 1);
}

TEST(AxisRoles, HeavyStagesReuseTheirOperands) {
  const auto heavy = [](const char* workload, const char* stage) {
    const Workbench bench(workload);
    const LoopTree tree = bench.tree("");
    return is_heavy(tree, tree.find_stage(stage_of(stage)));
  };
  EXPECT_TRUE(heavy("matmul:m=64,n=64,k=64", "C"));
  // Every second pixel has the same weights.
  EXPECT_TRUE(heavy("conv2d_transpose:n=1,h=8,w=8,ci=64,co=3,kernel=4,stride=2,pad=1", "Y"));
  EXPECT_FALSE(heavy("conv2d_transpose:n=1,h=8,w=8,ci=64,co=3,kernel=8,stride=8", "Y"));
  EXPECT_FALSE(heavy("softmax:m=64,n=64", "S"));
  EXPECT_FALSE(heavy("softmax:m=64,n=64", "Y"));
  EXPECT_FALSE(heavy("reduce:op=sum,shape=64x64,axes=0", "Y"));
}

}  // namespace
}  // namespace tilewright::heuristic
