#include "graph/graph.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tilewright::graph {
namespace {

TensorType f32(std::vector<int64_t> shape) {
  return {.element = ir::Scalar::F32, .shape = std::move(shape)};
}

Node node(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
  Node made;
  made.op = std::move(op);
  made.attributes = std::move(attributes);
  made.inputs = std::move(inputs);
  return made;
}

ValueId add(Graph& graph, Node made) {
  const auto outputs = graph.add(std::move(made));
  if (!outputs) throw std::runtime_error(outputs.error().message);
  return outputs->front();
}

TEST(Graph, TypesFollowFromOperators) {
  Graph graph;
  const ValueId x = graph.add_input("x", f32({2, 3}));
  const ValueId w = graph.add_constant("w", Constant::of_number(2, ir::Scalar::F32));
  const ValueId y = add(graph, node("mul", {x, w}));
  const ValueId less = add(graph, node("less", {y, x}));
  graph.set_outputs({less});
  EXPECT_EQ(graph.value(y).type, f32({2, 3}));
  EXPECT_EQ(graph.value(less).type.to_string(), "bool[2,3]");
  EXPECT_EQ(graph.value(y).producer, 0U);
  EXPECT_TRUE(graph.value(w).is_constant());
  EXPECT_EQ(graph.to_string(),
            "inputs x: f32[2,3]\n"
            "mul_0: f32[2,3] = mul(x, w)\n"
            "less_1: bool[2,3] = less(mul_0, x)\n"
            "outputs less_1\n");
}

TEST(Graph, UsesNameEachReaderOnce) {
  Graph graph;
  const ValueId x = graph.add_input("x", f32({4}));
  const ValueId y = add(graph, node("mul", {x, x}));
  add(graph, node("add", {y, x}));
  const auto uses = graph.uses();
  EXPECT_EQ(uses[x], (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(uses[y], (std::vector<NodeId>{1}));
}

TEST(Graph, NamesAreMadeUnique) {
  Graph graph;
  const ValueId a = graph.add_input("x", f32({4}));
  const ValueId b = graph.add_input("x", f32({4}));
  const std::string wanted[] = {"x"};
  const auto c = graph.add(node("neg", {a}), wanted);
  ASSERT_TRUE(c);
  EXPECT_EQ(graph.value(a).name, "x");
  EXPECT_NE(graph.value(b).name, "x");
  EXPECT_NE(graph.value(c->front()).name, "x");
  EXPECT_NE(graph.value(c->front()).name, graph.value(b).name);
}

TEST(Graph, MistakesAreErrors) {
  Graph graph;
  const ValueId x = graph.add_input("x", f32({4})), y = graph.add_input("y", f32({5}));
  EXPECT_EQ(graph.add(node("frobnicate", {x})).error().message, "there is no operator frobnicate");
  EXPECT_EQ(graph.add(node("add", {x, y})).error().message,
            "add: shapes [4] and [5] do not broadcast");
  EXPECT_EQ(graph.add(node("sub", {x})).error().message, "sub: 1 operands; 2 are wanted");
  EXPECT_EQ(graph.add(node("sub", {x, kNone})).error().message, "sub: operand 1 is left out");
  EXPECT_TRUE(graph.nodes().empty());
}

TEST(GraphRewriter, CopiesAndReplaces) {
  Graph graph;
  const ValueId x = graph.add_input("x", f32({4}));
  const ValueId two = graph.add_constant("two", Constant::of_number(2, ir::Scalar::F32));
  const ValueId y = add(graph, node("mul", {x, two}));
  const ValueId z = add(graph, node("exp", {y}));
  graph.set_outputs({z});
  graph.set_output_names({"result"});
  GraphRewriter rewriter(graph);
  rewriter.replace(y, rewriter.at(x));  // the multiplication goes
  ASSERT_TRUE(rewriter.keep(graph.node(1)));
  const Graph made = std::move(rewriter).finish();
  ASSERT_EQ(made.nodes().size(), 1U);
  EXPECT_EQ(made.node(0).op, "exp");
  EXPECT_EQ(made.node(0).inputs[0], made.inputs()[0]);
  EXPECT_EQ(made.outputs()[0], made.node(0).outputs[0]);
  EXPECT_EQ(made.value(made.outputs()[0]).name, graph.value(z).name);
  EXPECT_EQ(made.output_names(), (std::vector<std::string>{"result"}));
}

TEST(GraphRewriter, TypesAreInferredAgainIfOperandsChange) {
  Graph graph;
  const ValueId x = graph.add_input("x", f32({4, 1}));
  const ValueId y = add(graph, node("neg", {x}));
  add(graph, node("exp", {y}));
  graph.set_outputs({graph.node(1).outputs[0]});
  GraphRewriter rewriter(graph);
  const auto wide = rewriter.to().add(
      node("broadcast", {rewriter.at(x)}, {{"shape", std::vector<int64_t>{4, 3}}}));
  ASSERT_TRUE(wide);
  rewriter.replace(y, wide->front());
  ASSERT_TRUE(rewriter.keep(graph.node(1)));
  const Graph made = std::move(rewriter).finish();
  EXPECT_EQ(made.value(made.outputs()[0]).type, f32({4, 3}));
}

}  // namespace
}  // namespace tilewright::graph
