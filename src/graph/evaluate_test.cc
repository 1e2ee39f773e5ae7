#include "graph/evaluate.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/check.h"
#include "graph/op_table.h"
#include "te/eval.h"
#include "te/ops/table.h"

namespace tilewright::graph {
namespace {

ValueId add(Graph& graph, const std::string& op, std::vector<ValueId> inputs,
            Attributes attributes = {}) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const auto made = graph.add(std::move(node));
  if (!made) throw std::runtime_error(made.error().message);
  return made->front();
}

Constant integers(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return Constant::of_integers(std::move(shape), values);
}

TEST(ConstantValue, OfAChainOfShapes) {
  // The pattern of exporters: the first two extents of the shape of x, and -1 for the rest.
  Graph graph;
  const ValueId shape = graph.add_constant("shape", integers({4}, {2, 3, 5, 7}));
  const ValueId first =
      add(graph, "slice", {shape},
          {{"begin", std::vector<int64_t>{0}}, {"size", std::vector<int64_t>{2}}});
  const ValueId rest = graph.add_constant("rest", integers({1}, {-1}));
  const ValueId joined = add(graph, "concat", {first, rest}, {{"axis", int64_t{0}}});
  const auto value = constant_value(graph, joined);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->integers(), (std::vector<int64_t>{2, 3, -1}));
}

TEST(ConstantValue, EmptyIfItDependsOnAnInput) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.element = ir::Scalar::I64, .shape = {2}});
  const ValueId one = graph.add_constant("one", integers({}, {1}));
  const ValueId sum = add(graph, "add", {x, one});
  const auto value = constant_value(graph, sum);
  ASSERT_TRUE(value);
  EXPECT_TRUE(value->empty());
  EXPECT_EQ(constant_value(graph, one)->integer(0), 1);
}

TEST(ConstantValue, LargeWorkIsNotFolded) {
  Graph graph;
  const ValueId one = graph.add_constant("one", integers({}, {1}));
  const ValueId wide =
      add(graph, "broadcast", {one}, {{"shape", std::vector<int64_t>{1 << 20, 1 << 19}}});
  const ValueId sum = add(graph, "reduce", {wide}, {{"axes", std::vector<int64_t>{0}}});
  const auto value = constant_value(graph, sum);
  ASSERT_TRUE(value);
  EXPECT_TRUE(value->empty());
}

TEST(ConstantValue, LongChainIsEvaluatedOnce) {
  // Each node reads the one before it twice: without memory it would be 2^60 evaluations.
  Graph graph;
  ValueId last = graph.add_constant("one", integers({}, {1}));
  for (int k = 0; k < 60; ++k) last = add(graph, "add", {last, last});
  const auto value = constant_value(graph, last);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->integer(0), int64_t{1} << 60);
}

TEST(Evaluate, AgreesWithTheReferenceOnOperators) {
  const char* const texts[] = {
      "matmul:m=5,n=4,k=7",
      "conv2d:h=5,w=5,ci=4,co=6,kernel=3,pad=1,groups=2",
      "conv2d_transpose:h=3,w=3,ci=2,co=2,kernel=3,stride=2,pad=1",
      "softmax:m=3,n=9",
      "layer_norm:m=3,n=9",
      "reduce:op=argmax,shape=3x5x4,axes=1",
      "reduce:op=mean,shape=3x5x4,axes=0x2,dtype=f16",
      "cumulative_sum:shape=3x11,reverse=1",
      "pool:op=average,spatial=7x7,c=3,kernel=3,stride=2,pad=1",
      "resize:shape=4x4,to=7x9,mode=linear",
      "gather:shape=6x3,indices=4",
      "transpose:shape=3x4x5,perm=2x0x1,dtype=bf16",
      "slice:shape=6x6,begin=5x1,size=3x2,step=-2x3",
      "cast:shape=4x4,from=f32,to=u8",
      "elementwise:shape=3x4,chain=gelu+bias+tanh",
  };
  for (const std::string text : texts) {
    const auto instance = te::parse_operator(text);
    ASSERT_TRUE(instance) << text;
    const te::Dag& dag = *instance->dag;
    std::vector<Constant> inputs;
    for (const te::TensorId id : dag.inputs()) {
      const te::Tensor& tensor = dag.tensor(id);
      std::vector<int64_t> shape, values;
      for (const te::Extent& extent : tensor.shape) shape.push_back(extent.high);
      const TensorType type{.element = ir::Scalar::I64, .shape = shape};
      for (int64_t k = 0; k < type.elements(); ++k) values.push_back((k * 37 + 11) % 13 - 6);
      const Constant whole = Constant::of_integers(shape, values);
      const std::vector<std::optional<TensorType>> operand = {type};
      const auto cast =
          find_op("cast")->define({{"to", std::string(ir::name_of(tensor.element))}}, operand);
      ASSERT_TRUE(cast);
      inputs.push_back(evaluate(**cast, {&whole, 1})->front());
    }
    const auto results = evaluate(dag, inputs);
    ASSERT_TRUE(results) << text;
    te::Evaluator reference(dag, [&](te::TensorId tensor, int64_t offset) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (dag.inputs()[k] == tensor) return inputs[k].number(offset);
      }
      throw std::runtime_error("no such input");
    });
    const TensorType& type = results->front().type();
    std::vector<int64_t> place(type.shape.size());
    for (int64_t k = 0; k < type.elements(); ++k) {
      const double wanted = reference.element(dag.outputs()[0], place);
      EXPECT_NEAR(results->front().number(k), wanted, 1e-5 * std::max(1.0, std::abs(wanted)))
          << text << " at " << k;
      for (size_t d = place.size(); d > 0 && ++place[d - 1] == type.shape[d - 1]; --d) {
        place[d - 1] = 0;
      }
    }
  }
}

TEST(Evaluate, WrongOperandsAreInternalErrors) {
  const auto dag = te::parse_operator("cast:shape=4,from=f32,to=u8")->dag;
  const Constant wrong = integers({4}, {1, 2, 3, 4});
  EXPECT_THROW(evaluate(*dag, {&wrong, 1}), InternalError);
  EXPECT_THROW(evaluate(*dag, {}), InternalError);
}

TEST(WorkOf, CountsIterations) {
  EXPECT_EQ(work_of(*te::parse_operator("matmul:m=5,n=4,k=7")->dag), 140);
  EXPECT_EQ(work_of(*te::parse_operator("transpose:shape=8x4,perm=1x0")->dag), 4);
}

}  // namespace
}  // namespace tilewright::graph
