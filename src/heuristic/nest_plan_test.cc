#include "heuristic/nest_plan.h"

#include <gtest/gtest.h>

#include "schedule/program_hash.h"
#include "schedule/testing.h"
#include "schedule/trace_builder.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

using schedule::testing::stage_of;
using schedule::testing::trace_of;
using schedule::testing::Workbench;

struct PlanCase {
  const char* workload;
  const char* inlined;  // steps before
  const char* plan;     // `heavy in reader`, `members: row by row with root, lead`
};

constexpr PlanCase kCases[] = {
    {"conv2d_bias_bn_relu:n=1,h=8,w=8,ci=4,co=8,kernel=3,pad=1",
     "compute_inline T1\ncompute_inline T2\ncompute_inline T3\n", "C in Y; "},
    // The reader of a pair has a separate nest; the following stage has another.
    {"conv2d_bias_bn_relu:n=1,h=8,w=8,ci=4,co=8,kernel=3,pad=1", "",
     "C in T1; T3 T2 by 4 with Y; "},
    {"softmax:m=64,n=64", "", "R S E M by 1 with Y; "},
    {"softmax:m=2,n=64", "", ""},  // too few rows
    {"matmul:m=64,n=64,k=64", "", ""},
    {"transpose_batch_matmul_softmax:b=1,heads=4,seq=16,dim=8", "", "R S E M by 3 with Y; "},
    {"attention:b=1,heads=4,seq=16,dim=8", "", "O in Y; S by 3 with R; M by 3 with E; "},
};

std::string text_of(const LoopTree& tree, const NestPlan& plan) {
  std::string text;
  for (const auto& [reader, heavy] : plan.pairs) {
    text += tree.stage(heavy).name.text() + " in " + tree.stage(reader).name.text() + "; ";
  }
  std::string groups;
  for (const auto& [root, group] : plan.groups) {
    std::string members;
    for (const StageIndex member : group.members) members += tree.stage(member).name.text() + " ";
    // Later roots first, as they are placed.
    groups = members + "by " + std::to_string(group.lead) + " with " +
             tree.stage(root).name.text() + "; " + groups;
  }
  return text + groups;
}

TEST(NestPlan, ListsMembersOfANest) {
  for (const PlanCase& c : kCases) {
    const Workbench bench(c.workload);
    const LoopTree tree = bench.tree(c.inlined);
    const NestPlan plan = plan_nests(tree, 4);
    EXPECT_EQ(text_of(tree, plan), c.plan) << c.workload;
    for (const auto& [reader, heavy] : plan.pairs) EXPECT_EQ(plan.nested.at(heavy), reader);
    for (const auto& [root, group] : plan.groups) {
      for (const StageIndex member : group.members) EXPECT_EQ(plan.nested.at(member), root);
    }
  }
}

TEST(NestPlan, CountsCopiesOfInlinedStages) {
  const Workbench bench("softmax:m=8,n=16");
  const LoopTree tree = bench.tree("");
  EXPECT_EQ(copies_inlined(tree, tree.find_stage(stage_of("E"))), 2);   // by S and by Y
  EXPECT_EQ(copies_inlined(tree, tree.find_stage(stage_of("R"))), 16);  // for each j
}

TEST(TraceBuilder, KeepsLegalSteps) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  TraceBuilder builder(bench.initial());
  const Trace good = trace_of("split C i [4]\nannotate C i.0 parallel\n");
  const Trace bad = trace_of("split C j [4]\nannotate C k parallel\n");
  EXPECT_TRUE(builder.add(good.steps));
  EXPECT_FALSE(builder.add(bad.steps));  // none of the two
  EXPECT_EQ(builder.trace(), good);
  EXPECT_TRUE(builder.is_legal());
  EXPECT_EQ(program_hash(builder.tree()), bench.hash("split C i [4]\nannotate C i.0 parallel\n"));
}

}  // namespace
}  // namespace tilewright::heuristic
