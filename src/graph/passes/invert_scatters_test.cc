#include "graph/passes/invert_scatters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

// The Graph of one scatter before and after: the same results, and no scatter remains.
Graph expect_inverted(Exported& g, ValueId result) {
  const Graph before = g.finish({result});
  const auto after = invert_scatters(before, {});
  EXPECT_TRUE(after) << after.error().message;
  EXPECT_TRUE(std::ranges::none_of(after->nodes(), [](const Node& node) {
    return node.op.starts_with("scatter");
  })) << after->to_string();
  const std::vector<Constant> inputs = random_inputs(before, 3);
  EXPECT_EQ(largest_error(evaluate_graph(before, inputs), evaluate_graph(*after, inputs)), 0);
  return *after;
}

TEST(InvertScatters, ConstantIndices) {
  Exported g;
  const ValueId x = g.input("x", {3, 4}), u = g.input("u", {3, 4});
  // One place twice, where the last update counts, and one from the end.
  const ValueId indices = g.integers({3, 1}, {1, -1, 1});
  const Graph after = expect_inverted(g, g.add("scatter_nd", {x, indices, u}));
  EXPECT_EQ(after.nodes().size(), 2U);  // gather, where
}

TEST(InvertScatters, SingleElements) {
  Exported g;
  const ValueId x = g.input("x", {3, 4}), u = g.input("u", {2, 1});
  const ValueId indices = g.integers({2, 1, 2}, {0, 3, 2, -4});
  expect_inverted(g, g.add("scatter_nd", {x, indices, u}));
}

TEST(InvertScatters, AlongAnAxis) {
  Exported g;
  const ValueId x = g.input("x", {3, 4}), u = g.input("u", {2, 3});
  const ValueId indices = g.integers({2, 3}, {3, 0, -2, 1, 1, 0});
  expect_inverted(g, g.add("scatter_elements", {x, indices, u}, {{"axis", int64_t{1}}}));
}

TEST(InvertScatters, WholeTensorInOrderIsAView) {
  Exported g;
  const ValueId x = g.input("x", {2, 2, 3}), u = g.input("u", {2, 2, 3});
  const ValueId indices = g.integers({2, 2, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Graph after = expect_inverted(g, g.add("scatter_nd", {x, indices, u}));
  EXPECT_TRUE(std::ranges::none_of(after.nodes(), [](const Node& node) {
    return node.op == "gather" || node.op == "where";
  })) << after.to_string();
}

TEST(InvertScatters, OthersAreKept) {
  Exported g;
  const ValueId x = g.input("x", {3, 4}), u = g.input("u", {2, 4});
  const ValueId places = g.input("places", {2, 1}, ir::Scalar::I64);
  const ValueId indices = g.integers({2, 1}, {0, 0});
  const Graph before =
      g.finish({g.add("scatter_nd", {x, places, u}),
                g.add("scatter_nd", {x, indices, u}, {{"reduction", std::string("add")}})});
  const auto after = invert_scatters(before, {});
  ASSERT_TRUE(after);
  EXPECT_EQ(after->to_string(), before.to_string());
}

}  // namespace
}  // namespace tilewright::graph
