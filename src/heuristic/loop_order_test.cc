#include "heuristic/loop_order.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

struct OrderCase {
  const char* workload;
  const char* stage;
  RegisterTile tile;
  const char* steps;
  std::vector<const char*> outer;
};

const std::vector<OrderCase>& cases() {
  static const std::vector<OrderCase> all = {
      {"matmul:m=512,n=512,k=64",
       "C",
       {32, 8},
       "split C i [8]\nsplit C j [32]\nreorder C [j.0, i.0, k, i.1, j.1]\n",
       {"j.0", "i.0"}},
      // A tile as large as its axis is not a split; nothing is outside.
      {"matmul:m=8,n=32,k=64", "C", {32, 8}, "reorder C [k, i, j]\n", {}},
      // Loops over an axis of every operand are outermost.
      {"batch_matmul:b=8,m=64,n=64,k=64",
       "C",
       {32, 8},
       "split C i [8]\nsplit C j [32]\nreorder C [b, j.0, i.0, k, i.1, j.1]\n",
       {"b", "j.0", "i.0"}},
      // Lanes are partial sums.
      {"softmax:m=64,n=640", "S", {64, 0}, "split S k [64]\nreorder S [i, k.0, k.1]\n", {"i"}},
      // Walked along both sides.
      {"transpose:shape=64x64,perm=1x0",
       "Y",
       {16, 0},
       "split Y i [16]\nsplit Y j [16]\nreorder Y [i.0, j.0, i.1, j.1]\n",
       {"i.0", "j.0"}},
  };
  return all;
}

TEST(LoopOrder, TilesInsideReductionsAndOuterLoopsByReuse) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  for (const OrderCase& c : cases()) {
    const Workbench bench(c.workload);
    const schedule::LoopTree tree = bench.tree("");
    const schedule::StageIndex stage = tree.find_stage(stage_of(c.stage));
    const AxisRoles roles = axis_roles(tree, stage, target, true);
    const LoopOrder order = order_loops(tree, stage, roles, c.tile);
    EXPECT_EQ(schedule::to_text(schedule::Trace{order.steps}), c.steps) << c.workload;
    std::vector<std::string> outer;
    for (const Name loop : order.outer) outer.push_back(loop.text());
    EXPECT_EQ(outer, std::vector<std::string>(c.outer.begin(), c.outer.end())) << c.workload;
  }
}

}  // namespace
}  // namespace tilewright::heuristic
