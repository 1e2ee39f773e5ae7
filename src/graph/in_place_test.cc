#include "graph/in_place.h"

#include <gtest/gtest.h>

#include "graph/graph_testing.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

struct Placed {
  std::vector<Alias> aliases;
  int concats = 0;  // that are left
};

Placed placed(const Graph& graph) {
  const auto facts = facts_of(graph);
  EXPECT_TRUE(facts.has_value()) << facts.error().message;
  std::vector<FusedGroup> groups = fuse(graph, *facts, fusion_pays_by_default);
  Placed result{.aliases = concat_in_place(graph, *facts, groups)};
  for (const FusedGroup& group : groups) {
    for (const NodeId id : group.nodes) result.concats += graph.node(id).op == "concat" ? 1 : 0;
  }
  return result;
}

ValueId concat(TestGraph& g, std::vector<ValueId> parts, int64_t axis) {
  return g.add("concat", std::move(parts), {{"axis", axis}});
}

TEST(ConcatInPlace, OutermostAxis) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 3);
  const ValueId joined = concat(g, {a, b}, 1);
  const Placed result = placed(g.finish({g.conv(joined, 8, 1)}));
  EXPECT_EQ(result.concats, 0);
  ASSERT_EQ(result.aliases.size(), 2U);
  EXPECT_EQ(result.aliases[0].value, a);
  EXPECT_EQ(result.aliases[0].offset, 0);
  EXPECT_EQ(result.aliases[1].value, b);
  EXPECT_EQ(result.aliases[1].of, joined);
  EXPECT_EQ(result.aliases[1].offset, 4 * 4 * 16 * 4);
}

TEST(ConcatInPlace, PrefixesOfALargerConcat) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 3);
  const ValueId ab = concat(g, {a, b}, 1);
  const ValueId c = g.conv_relu(ab, 16, 1);
  const ValueId abc = concat(g, {a, b, c}, 1);
  const Placed result = placed(g.finish({g.conv(abc, 8, 1)}));
  EXPECT_EQ(result.concats, 0);
  ASSERT_EQ(result.aliases.size(), 4U);
  for (const Alias& alias : result.aliases) EXPECT_EQ(alias.of, abc);
}

TEST(ConcatInPlace, LastAxis) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 32, 3);
  const ValueId joined = concat(g, {a, b}, -1);
  const Graph graph = g.finish({g.conv(joined, 8, 1)});
  const auto parts = partition(graph, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  ASSERT_EQ(parts->groups.size(), 3U);
  ASSERT_EQ(parts->aliases.size(), 2U);
  EXPECT_EQ(parts->aliases[1].value, b);
  EXPECT_EQ(parts->aliases[1].offset, 16 * 4);
  EXPECT_EQ(parts->aliases[1].within, (Shape{1, 4, 4, 48}));
  const Workload& writer = parts->groups[1].workload;
  EXPECT_EQ(writer.operands.back().storage().to_string(), "[d0:1, d1:4, d2:4, d3:48]");
  EXPECT_EQ(writer.operands.back().alignment, 64);
  const auto again = parse_workload(writer.text);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->key(), writer.key());
}

TEST(ConcatInPlace, AlignmentOfParts) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId joined = concat(g, {g.conv_relu(x, 12, 1), g.conv_relu(x, 32, 3)}, 3);
  const Graph graph = g.finish({g.conv(joined, 8, 1)});
  const auto parts = partition(graph, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  EXPECT_EQ(parts->groups[0].workload.operands.back().alignment, 64);
  EXPECT_EQ(parts->groups[1].workload.operands.back().alignment, 16);  // 48 bytes
}

TEST(ConcatInPlace, DenseBlock) {
  TestGraph g;
  const ValueId x = g.conv_relu(g.input("x", {1, 4, 4, 16}), 16, 3);
  const Graph graph = g.finish({g.conv(g.dense_block(x, 4, 16), 8, 1)});
  const auto parts = partition(graph, {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  for (const Group& group : parts->groups) {
    EXPECT_FALSE(group.title.contains("concat")) << group.title;
  }
  // The first convolution; in each layer two, scale and relu in the first; the last one. All that
  // end a layer are one kernel.
  EXPECT_EQ(parts->groups.size(), 1U + 2 * 4 + 1);
  EXPECT_EQ(parts->kernels.size(), 1U + 4 + 1 + 1);
}

TEST(ConcatInPlace, NestedConcats) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 3), c = g.conv_relu(x, 16, 1);
  const ValueId inner = concat(g, {a, b}, 2);
  const ValueId outer = concat(g,
                               {
                                   g.conv_relu(inner, 16, 3),
                                   inner,
                               },
                               3);
  const Placed result = placed(g.finish({g.conv(outer, 8, 1), g.conv(c, 8, 1)}));
  EXPECT_EQ(result.concats, 0);
  ASSERT_EQ(result.aliases.size(), 4U);
  EXPECT_EQ(result.aliases[1].value, b);
  EXPECT_EQ(result.aliases[1].of, outer);
  EXPECT_EQ(result.aliases[1].offset, (4 * 32 + 16) * 4);
  EXPECT_EQ(result.aliases[1].within, (Shape{1, 4, 8, 32}));
}

TEST(ConcatInPlace, ValuesWithStorageAreCopied) {
  {
    TestGraph g;  // an input
    const ValueId x = g.input("x", {1, 4, 4, 16});
    const ValueId joined = concat(g, {g.conv_relu(x, 16, 1), x}, 1);
    EXPECT_EQ(placed(g.finish({g.conv(joined, 8, 1)})).concats, 1);
  }
  {
    TestGraph g;  // twice the same
    const ValueId a = g.conv_relu(g.input("x", {1, 4, 4, 16}), 16, 1);
    EXPECT_EQ(placed(g.finish({g.conv(concat(g, {a, a}, 1), 8, 1)})).concats, 1);
  }
  {
    TestGraph g;  // an output
    const ValueId x = g.input("x", {1, 4, 4, 16});
    const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 1);
    EXPECT_EQ(placed(g.finish({g.conv(concat(g, {a, b}, 1), 8, 1), a})).concats, 1);
  }
  {
    TestGraph g;  // in two orders
    const ValueId x = g.input("x", {1, 4, 4, 16});
    const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 1);
    const ValueId one = concat(g, {a, b}, 1), two = concat(g, {b, a}, 1);
    EXPECT_EQ(placed(g.finish({g.conv(one, 8, 1), g.conv(two, 8, 1)})).concats, 1);
  }
}

TEST(ConcatInPlace, StepsMayReadEarlierParts) {
  TestGraph g;
  const ValueId w = g.weights({24, 24});
  std::vector<ValueId> steps = {g.input("x", {1, 24})};
  for (int k = 0; k < 3; ++k) {
    const ValueId z =
        g.add("contract", {steps.back(), w}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}});
    steps.push_back(g.add("tanh", {z}));
  }
  const ValueId last = g.add("reshape", {steps[2]}, {{"shape", Shape{1, 1, 24}}});
  const ValueId viewed = g.add("softmax", {last}, {{"axis", int64_t{2}}});
  const ValueId joined = concat(g, {steps[1], steps[2], steps[3]}, 0);
  const auto parts = partition(g.finish({joined, viewed}), {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  EXPECT_EQ(parts->groups.size(), 4U) << "no concat";
  // Steps 2 and 3 differ only in the row that they read and write.
  EXPECT_EQ(parts->kernels.size(), 3U);
  EXPECT_EQ(parts->groups[1].workload.operands[0].alignment, 32);
}

TEST(ConcatInPlace, APartWhoseViewIsAnOutputIsCopied) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 4, 4, 16});
  const ValueId a = g.conv_relu(x, 16, 1), b = g.conv_relu(x, 16, 3);
  const ValueId view = g.add("reshape", {b}, {{"shape", Shape{256}}});
  const Placed result = placed(g.finish({g.conv(concat(g, {a, b}, 1), 8, 1), view}));
  EXPECT_EQ(result.concats, 1);
}

}  // namespace
}  // namespace tilewright::graph
