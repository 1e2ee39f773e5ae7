// The minimizer on artificial failures: it keeps only the steps that they need.
#include "minimize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using schedule::LoopTree;
using schedule::Trace;

class MinimizeTest : public ::testing::Test {
 protected:
  static Trace parse(std::string_view text) {
    const Result<Trace> trace = schedule::trace_from_text(text);
    EXPECT_TRUE(trace.has_value()) << trace.error().message;
    return *trace;
  }

  std::string minimized(std::string_view text, const StillFails& still_fails) const {
    const Trace trace = parse(text);
    LoopTree tree;
    EXPECT_FALSE(schedule::apply(initial_, trace, &tree));
    EXPECT_TRUE(still_fails(tree, trace));
    return to_text(minimize(initial_, trace, still_fails));
  }

  const Workload workload_ = parse_workload("matmul:m=20,n=30,k=10").value();
  const LoopTree initial_ = schedule::initial_tree(workload_).value();
};

bool has_remainder(const LoopTree& tree) {
  return std::ranges::any_of(
      tree.vars, [](const schedule::LoopVar& var) { return var.is_split() && var.remainder != 0; });
}

TEST_F(MinimizeTest, DropsAStepAndItsDependents) {
  const StillFails unrolls = [](const LoopTree& tree, const Trace&) {
    return std::ranges::any_of(tree.vars, [](const schedule::LoopVar& var) {
      return var.is_loop() && var.annotation == schedule::Annotation::Unroll;
    });
  };
  EXPECT_EQ(minimized("cache_write C\nsplit C i [4]\nsplit C j [5]\ncompute_at C.write C i.0\n"
                      "split C.write k [2]\nannotate C.write k.1 unroll\nannotate C i.0 parallel\n",
                      unrolls),
            "cache_write C\nsplit C.write k [1]\nannotate C.write k.1 unroll\n");
}

TEST_F(MinimizeTest, ReducesFactorsAndPeels) {
  const StillFails leaves_over = [](const LoopTree& tree, const Trace&) {
    return has_remainder(tree);
  };
  EXPECT_EQ(minimized("split C i [7] tail=mask\nsplit C k [3]\nreorder C [j, k.0]\n", leaves_over),
            "split C i [3]\n");
  EXPECT_EQ(minimized("split C j [2, 7] tail=overlap\n", leaves_over), "split C j [1, 4]\n");
}

TEST_F(MinimizeTest, KeepsATailThatTheFailureNeeds) {
  const StillFails overlaps = [](const LoopTree& tree, const Trace& trace) {
    return has_remainder(tree) && to_text(trace).find("overlap") != std::string::npos;
  };
  EXPECT_EQ(minimized("split C i [9] tail=overlap\nsplit C j [4]\n", overlaps),
            "split C i [3] tail=overlap\n");
}

TEST_F(MinimizeTest, MinimalTracesAreUnchanged) {
  const StillFails always = [](const LoopTree&, const Trace&) { return true; };
  EXPECT_EQ(minimized("split C i [9]\nannotate C j unroll\n", always), "");
  const StillFails both = [](const LoopTree&, const Trace& trace) {
    return trace.steps.size() >= 2;
  };
  EXPECT_EQ(minimized("split C i [9]\nsplit C j [4]\n", both), "split C i [1]\nsplit C j [1]\n");
}

}  // namespace
}  // namespace tilewright::testing
