// The checker of regions detects errors: trees with regions that were made wrong.
#include "region_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::testing {
namespace {

using schedule::LoopTree;

class RegionCheckTest : public ::testing::Test {
 protected:
  // The errors in the regions of `said`, for the program of `tree_`.
  std::string problem(const LoopTree& said) {
    std::vector<lower::LoopBinding> bindings;
    const ir::Function nest =
        lower::build_nest(workload_, host_target(1), tree_, trace_, &bindings);
    RegionChecker checker(said, nest, bindings);
    Memory memory = make_operands(workload_, 1);
    std::vector<void*> pointers;
    for (auto& bytes : memory) pointers.push_back(bytes.data());
    const codegen::InterpOptions options{
        .observer = [&](const auto& event, const auto& environment) {
          checker.on_access(event, environment);
        }};
    EXPECT_TRUE(codegen::interpret(nest, pointers, options).has_value());
    std::string found = checker.finish();
    count_ = checker.count();
    return found;
  }

  const schedule::Access& read_of_a(const LoopTree& tree) const {
    return tree.reads_of(tree.stages.back()).front();
  }

  const Workload workload_ = parse_workload("matmul:m=6,n=4,k=2").value();
  const LoopTree initial_ = schedule::initial_tree(workload_).value();
  const schedule::Trace trace_ = schedule::trace_from_text("split C i [3]\n").value();
  const LoopTree tree_ = schedule::apply_or_explain(initial_, trace_).value();
  RegionCount count_;
};

TEST_F(RegionCheckTest, AcceptsCorrectRegions) {
  EXPECT_EQ(problem(tree_), "");
  EXPECT_EQ(count_.regions, count_.exact);
  EXPECT_GT(count_.equal, 50);
}

TEST_F(RegionCheckTest, DetectsElementsOutside) {
  LoopTree said = tree_;
  said.dims[read_of_a(said).first_dim].index.constant = 1;  // A[i + 1, k]
  EXPECT_THAT(problem(said), ::testing::HasSubstr("dimension 0 of A, read by C, at loop root, is "
                                                  "read at 0, outside [1, 7)"));
}

TEST_F(RegionCheckTest, DetectsUntouchedElements) {
  LoopTree said = tree_;
  const schedule::StageIndex stage = read_of_a(said).stage;
  said.var(said.find_loop(stage, Name("k"))).extent = 3;
  EXPECT_THAT(problem(said),
              ::testing::HasSubstr("is said to be exact: [0, 3) by 1 has 3 elements, "
                                   "2 were touched"));
}

}  // namespace
}  // namespace tilewright::testing
