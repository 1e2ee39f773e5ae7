#include "graph/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/graph_testing.h"
#include "graph/separate_outputs.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

Partition partitioned(const Graph& graph, const PartitionOptions& options = {}) {
  auto result = partition(graph, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return *std::move(result);
}

TEST(Partition, LoneConvolutionHasTheKeyOfTheSuite) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 14, 14, 64});
  const Graph graph = g.finish({g.conv(x, 128, 3)});
  const Partition parts = partitioned(graph);
  ASSERT_EQ(parts.groups.size(), 1U);
  const auto suite = parse_workload("conv2d:n=1,h=14,w=14,ci=64,co=128,kernel=3,stride=1,pad=1");
  ASSERT_TRUE(suite.has_value()) << suite.error().message;
  EXPECT_EQ(parts.kernels[0].key, suite->key());
  // Traces name stages: those of the records apply.
  for (size_t k = 0; k < suite->dag->ops().size(); ++k) {
    EXPECT_EQ(parts.groups[0].workload.dag->ops()[k].name, suite->dag->ops()[k].name);
  }
  EXPECT_EQ(parts.groups[0].title, "conv2d 3x3 64->128");
}

TEST(Partition, LoneMatmulHasTheKeyOfTheSuite) {
  TestGraph g;
  const ValueId x = g.input("x", {32, 64});
  const Graph graph = g.finish(
      {g.add("contract", {x, g.weights({64, 48})}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}})});
  const Partition parts = partitioned(graph);
  const auto suite = parse_workload("matmul:m=32,n=48,k=64,constant=B");
  ASSERT_TRUE(suite.has_value()) << suite.error().message;
  EXPECT_EQ(parts.kernels[0].key, suite->key());
  EXPECT_EQ(parts.groups[0].title, "matmul 32x48x64");
}

TEST(Partition, EqualBlocksShareOneKernel) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId once = g.residual_block(x);
  const Graph graph = g.finish({g.residual_block(once)});
  const Partition parts = partitioned(graph);
  ASSERT_EQ(parts.groups.size(), 4U);
  ASSERT_EQ(parts.kernels.size(), 2U);
  EXPECT_EQ(parts.kernels[0].groups, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(parts.kernels[1].groups, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(parts.groups[1].title, "conv2d 3x3 16->16 + add + add + relu");
  EXPECT_EQ(parts.groups[1].workload.text, parts.groups[3].workload.text);
}

TEST(Partition, TextsParseToTheWorkload) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 32});
  const Graph graph = g.finish({g.bert_layer(x, 4)});
  for (const Group& group : partitioned(graph).groups) {
    const auto again = parse_workload(group.workload.text);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->key(), group.workload.key()) << group.title;
  }
}

TEST(Partition, ScalarsAreNotOperands) {
  TestGraph g;
  const ValueId x = g.input("x", {4, 8});
  const ValueId scaled = g.add("mul", {x, g.number(0.25)});
  const Graph graph = g.finish({g.add("clip", {scaled, g.number(0), g.number(6)})});
  const Partition parts = partitioned(graph);
  ASSERT_EQ(parts.groups.size(), 1U);
  EXPECT_EQ(parts.groups[0].arguments.size(), 2U);
  EXPECT_EQ(parts.groups[0].title, "mul + clip 4x8");
}

TEST(Partition, ValueReadTwiceIsOneOperand) {
  TestGraph g;
  const ValueId x = g.input("x", {4, 8});
  const Graph graph = g.finish({g.add("mul", {x, x})});
  const Partition parts = partitioned(graph);
  EXPECT_EQ(parts.groups[0].arguments, (std::vector<ValueId>{x, graph.outputs()[0]}));
}

TEST(Partition, ArgumentsFollowTheOperands) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const Graph graph = g.finish({g.residual_block(x)});
  for (const Group& group : partitioned(graph).groups) {
    ASSERT_EQ(group.arguments.size(), group.workload.operands.size());
    for (size_t k = 0; k < group.arguments.size(); ++k) {
      const Value& value = graph.value(group.arguments[k]);
      const Operand& operand = group.workload.operands[k];
      const te::Tensor& tensor = group.workload.dag->tensor(operand.tensor);
      EXPECT_EQ(tensor.element, value.type.element);
      EXPECT_EQ(tensor.shape.size(), value.type.shape.size());
      for (size_t d = 0; d < tensor.shape.size(); ++d) {
        EXPECT_EQ(tensor.shape[d].high, value.type.shape[d]);
      }
      EXPECT_EQ(operand.role == Role::Constant, value.is_constant());
    }
  }
}

TEST(Partition, ViewsAreAliases) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 16});
  const ValueId flat = g.add("reshape", {g.linear(x, 16)}, {{"shape", Shape{8, 4, 4}}});
  const Graph graph = g.finish({g.add("softmax", {flat}, {{"axis", int64_t{2}}})});
  const Partition parts = partitioned(graph);
  ASSERT_EQ(parts.aliases.size(), 1U);
  EXPECT_EQ(parts.aliases[0].value, flat);
  EXPECT_EQ(parts.aliases[0].of, parts.groups[0].arguments.back());
  EXPECT_EQ(parts.groups[1].arguments[0], flat);
}

TEST(Partition, RowSlicesAreViewsColumnSlicesAreNot) {
  TestGraph g;
  const ValueId x = g.input("x", {6, 8});
  const auto part = [&](Shape begin, Shape size) {
    return g.add("slice", {x}, {{"begin", std::move(begin)}, {"size", std::move(size)}});
  };
  const ValueId rows = part({2, 0}, {3, 8}), other = part({3, 0}, {3, 8});
  const ValueId columns = part({0, 2}, {6, 3});
  const ValueId output = part({1, 0}, {1, 8});
  const auto parts = partition(
      g.finish({g.add("relu", {rows}), g.add("relu", {other}), g.add("relu", {columns}), output}),
      {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  ASSERT_EQ(parts->aliases.size(), 2U);
  EXPECT_EQ(parts->aliases[0].value, rows);
  EXPECT_EQ(parts->aliases[0].of, x);
  EXPECT_EQ(parts->aliases[0].offset, 64);
  EXPECT_EQ(parts->groups.size(), 4U) << "an output is written by a kernel";
  EXPECT_EQ(parts->kernels.size(), 3U) << "the rows are equal kernels, though one is at byte 96";
  EXPECT_EQ(parts->groups[1].workload.operands[0].alignment, 32);
}

TEST(Partition, ViewOfAPartHasTheCombinedAlignment) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 24});
  const ValueId a = g.add("softmax", {x}, {{"axis", int64_t{1}}});
  const ValueId b = g.add("softmax", {g.add("exp", {x})}, {{"axis", int64_t{1}}});
  const ValueId joined = g.add("concat", {a, b}, {{"axis", int64_t{0}}});
  const ValueId view = g.add("reshape", {b}, {{"shape", Shape{4, 6}}});
  const auto parts =
      partition(g.finish({joined, g.add("softmax", {view}, {{"axis", int64_t{1}}})}), {});
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  ASSERT_EQ(parts->groups.size(), 3U);
  EXPECT_EQ(parts->groups[2].workload.operands[0].alignment, 32) << "at byte 96 of the result";
}

TEST(Partition, OutputsThatAliasOtherValues) {
  TestGraph g;
  const ValueId x = g.input("x", {4, 4});
  const ValueId w = g.weights({4, 4});
  const ValueId y = g.add("relu", {x});
  const ValueId flat = g.add("reshape", {y}, {{"shape", Shape{16}}});
  const Graph graph = g.finish({y, flat, x, w, y});
  EXPECT_FALSE(partition(graph, {}).has_value());
  const auto separate = separate_outputs(graph);
  ASSERT_TRUE(separate.has_value()) << separate.error().message;
  EXPECT_EQ(separate->outputs().size(), 5U);
  EXPECT_EQ(separate->outputs()[0], y);
  EXPECT_EQ(separate->output_names(),
            (std::vector<std::string>{graph.value(y).name, graph.value(flat).name, "x",
                                      graph.value(w).name, graph.value(y).name}));
  EXPECT_EQ(separate->value(separate->outputs()[1]).type.shape, Shape{16});
  EXPECT_EQ(partitioned(*separate).groups.size(), 5U);
}

TEST(Partition, AnOutputThatIsPartOfAConcatIsCopied) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId a = g.conv_relu(x, 16, 3), b = g.conv_relu(x, 16, 1);
  const ValueId joined = g.add("concat", {a, b}, {{"axis", int64_t{1}}});
  const auto separate = separate_outputs(g.finish({joined, b}));
  ASSERT_TRUE(separate.has_value()) << separate.error().message;
  const Partition parts = partitioned(*separate);
  ASSERT_EQ(parts.groups.size(), 3U);
  EXPECT_EQ(parts.groups[2].title, "cast 1x8x8x16") << "no concat";
}

TEST(Partition, UnpackedWeightsAreOrdinaryOperands) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const Graph graph = g.finish({g.conv_relu(x, 32, 3)});
  const auto constants = [](const Partition& parts) {
    return std::ranges::count(parts.groups[0].workload.operands, Role::Constant, &Operand::role);
  };
  PartitionOptions options;
  options.pack_weights = false;
  EXPECT_EQ(constants(partitioned(graph)), 2);
  EXPECT_EQ(constants(partitioned(graph, options)), 0);
  EXPECT_NE(partitioned(graph).kernels[0].key, partitioned(graph, options).kernels[0].key);
}

TEST(Partition, ConcatIsAKernelUnlessInPlace) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 8, 16});
  const ValueId joined =
      g.add("concat", {g.conv_relu(x, 16, 1), g.conv_relu(x, 16, 3)}, {{"axis", int64_t{3}}});
  const Graph graph = g.finish({g.conv(joined, 8, 3)});
  const auto concats = [](const Partition& parts) {
    return std::ranges::count_if(parts.groups,
                                 [](const Group& group) { return group.title.contains("concat"); });
  };
  PartitionOptions options;
  options.concat_in_place = false;
  EXPECT_EQ(concats(partitioned(graph)), 0);
  EXPECT_EQ(concats(partitioned(graph, options)), 1);
  EXPECT_EQ(partitioned(graph).aliases.size(), 2U);
  EXPECT_TRUE(partitioned(graph, options).aliases.empty());
}

TEST(Partition, Titles) {
  TestGraph g;
  const ValueId x = g.input("x", {1, 8, 32});
  const Graph graph = g.finish({g.bert_layer(x, 4)});
  std::vector<std::string> titles;
  for (const Group& group : partitioned(graph).groups) titles.push_back(group.title);
  const std::vector<std::string> expected = {
      "matmul 8x32x32 + add",        "matmul 8x32x32 + add", "matmul 8x32x32 + add",
      "batch_matmul 4x8x8x8 + mul",  "softmax 1x4x8x8",      "batch_matmul 4x8x8x8",
      "matmul 8x32x32 + add + add",  "layer_norm 1x8x32",    "matmul 8x128x32 + add + gelu",
      "matmul 8x32x128 + add + add", "layer_norm 1x8x32"};
  EXPECT_EQ(titles, expected);
}

}  // namespace
}  // namespace tilewright::graph
