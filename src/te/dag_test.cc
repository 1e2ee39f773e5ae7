#include "te/dag_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/check.h"
#include "te/ops/matmul.h"
#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Dag, MatmulIsThreeOperatorsInOrder) {
  const auto dag = matmul({.m = 4, .n = 5, .k = 6});
  ASSERT_EQ(dag->ops().size(), 3u);
  EXPECT_THAT(dag->inputs(), ElementsAre(0u, 1u));
  EXPECT_THAT(dag->outputs(), ElementsAre(2u));
  EXPECT_EQ(dag->tensor(2).name.text(), "C");
  EXPECT_EQ(dag->find_op(Name("C")), OpId{2});
  EXPECT_FALSE(dag->find_op(Name("D")).has_value());
  EXPECT_EQ(dag->op(2).reduction->simple_op(), ir::BinaryOp::Add);
  EXPECT_EQ(dag->to_string(),
            "A: f32[4, 6]\n"
            "B: f32[6, 5]\n"
            "C: f32[i < 4, j < 5] = sum over k < 6 of A[i, k] * B[k, j]\n");
}

TEST(Dag, ConsumersAndProducersAreUniqueAndAscending) {
  const auto dag = softmax(4, 8);  // X M E S R Y
  const auto ids = [](std::span<const OpId> list) { return std::vector(list.begin(), list.end()); };
  EXPECT_THAT(ids(dag->consumers(0)), ElementsAre(1u, 2u));
  EXPECT_THAT(ids(dag->producers(2)), ElementsAre(0u, 1u));
  EXPECT_THAT(ids(dag->consumers(2)), ElementsAre(3u, 5u));
  EXPECT_THAT(ids(dag->producers(5)), ElementsAre(2u, 4u));
  EXPECT_TRUE(dag->consumers(5).empty());
}

TEST(Dag, StorageTypesComputeInF32AndRoundOnStore) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {8}, ir::Scalar::F16);
  const Axis i = builder.axis("i", 8);
  const ir::Expr value = builder.read(x, {i.var});
  EXPECT_EQ(value.type(), ir::kF32);
  builder.compute("Y", {i}, value + value, ir::Scalar::F16);
  const auto dag = std::move(builder).build();
  EXPECT_EQ(dag->tensor(1).element, ir::Scalar::F16);
  EXPECT_EQ(dag->op(1).body[0].type().scalar, ir::Scalar::F16);
}

TEST(Dag, TupleOutputsHaveNumberedNames) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {8}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 1);
  const Axis k = builder.axis("k", 8);
  Reduction two = make_reduction(ir::BinaryOp::Add, ir::Scalar::F32);
  const Reduction other = make_reduction(ir::BinaryOp::Max, ir::Scalar::F32);
  two.identity.push_back(other.identity[0]);
  two.lhs.push_back(other.lhs[0]);
  two.rhs.push_back(other.rhs[0]);
  two.combine.push_back(other.combine[0]);
  EXPECT_FALSE(two.simple_op().has_value());
  const ir::Expr value = builder.read(x, {k.var});
  const auto outputs =
      builder.reduce_tuple("R", {i}, {k}, two, {value, value}, {ir::Scalar::F32, ir::Scalar::F64});
  const auto dag = std::move(builder).build();
  EXPECT_EQ(dag->tensor(outputs[0]).name.text(), "R.0");
  EXPECT_EQ(dag->tensor(outputs[1]).name.text(), "R.1");
  EXPECT_EQ(dag->tensor(outputs[1]).element, ir::Scalar::F64);
  EXPECT_THAT(dag->outputs(), ElementsAre(outputs[0], outputs[1]));
}

TEST(Dag, DiscardedTensorsAreNotOutputs) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {4}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 1);
  const Axis k = builder.axis("k", 4);
  Reduction two = make_reduction(ir::BinaryOp::Add, ir::Scalar::F32);
  const Reduction other = make_reduction(ir::BinaryOp::Max, ir::Scalar::F32);
  two.identity.push_back(other.identity[0]);
  two.lhs.push_back(other.lhs[0]);
  two.rhs.push_back(other.rhs[0]);
  two.combine.push_back(other.combine[0]);
  const ir::Expr value = builder.read(x, {k.var});
  const auto outputs =
      builder.reduce_tuple("R", {i}, {k}, two, {value, value}, {ir::Scalar::F32, ir::Scalar::F32});
  builder.discard(outputs[0]);
  EXPECT_THAT(std::move(builder).build()->outputs(), ElementsAre(outputs[1]));
}

TEST(Dag, IdentitiesOfSimpleReductions) {
  struct Case {
    ir::BinaryOp op;
    ir::Scalar type;
    int64_t identity;
  };
  using enum ir::BinaryOp;
  const Case cases[] = {
      {Add, ir::Scalar::I32, 0},
      {Mul, ir::Scalar::I32, 1},
      {Min, ir::Scalar::I8, 127},
      {Max, ir::Scalar::I8, -128},
      {Min, ir::Scalar::U8, 255},
      {Max, ir::Scalar::U8, 0},
      {Min, ir::Scalar::U16, 65535},
      {Min, ir::Scalar::U32, 4294967295},
      {Max, ir::Scalar::U32, 0},
      {Min, ir::Scalar::I64, std::numeric_limits<int64_t>::max()},
      {Max, ir::Scalar::I64, std::numeric_limits<int64_t>::min()},
      {And, ir::Scalar::Bool, 1},
      {Or, ir::Scalar::Bool, 0},
  };
  for (const Case& c : cases) {
    const ir::Expr identity = make_reduction(c.op, c.type).identity[0];
    EXPECT_EQ(identity.as<ir::IntImm>()->value, c.identity) << ir::name_of(c.op);
  }
  const ir::Expr lowest = make_reduction(Max, ir::Scalar::F32).identity[0];
  EXPECT_EQ(lowest.as<ir::FloatImm>()->value, -std::numeric_limits<double>::infinity());
}

TEST(Dag, SymbolicExtents) {
  const Extent rows = Extent::named(Name("rows"), 1, 128);
  EXPECT_FALSE(rows.constant().has_value());
  EXPECT_EQ(Extent(7).constant(), 7);
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {rows}, ir::Scalar::F32);
  const Axis i = builder.axis("i", rows);
  builder.compute("Y", {i}, builder.read(x, {i.var}));
  const auto dag = std::move(builder).build();
  EXPECT_THAT(dag->to_string(), HasSubstr("X: f32[rows in [1, 128]]"));
}

// Misuse of the builder is an internal error with a description.
struct Mistake {
  const char* message;
  void (*make)(DagBuilder& builder, TensorId x);
};

class DagMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(DagMistakes, AreErrors) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {4, 4}, ir::Scalar::F32);
  try {
    GetParam().make(builder, x);
    std::move(builder).build();
    FAIL() << "not refused";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DagMistakes,
    ::testing::Values(
        Mistake{"with 1 indices",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  b.compute("Y", {i}, b.read(x, {i.var}));
                }},
        Mistake{"index is not I64",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  const ir::Expr index = ir::cast(ir::Scalar::I32, i.var);
                  b.compute("Y", {i}, b.read(x, {index, index}));
                }},
        Mistake{"is not an axis of it",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  const Axis j = b.axis("j", 4);
                  b.compute("Y", {i}, b.read(x, {i.var, j.var}));
                }},
        Mistake{"two axes are called i",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  const Axis j = b.axis("i", 4);
                  b.compute("Y", {i, j}, b.read(x, {i.var, j.var}));
                }},
        Mistake{"two operators are called X",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  b.compute("X", {i}, b.read(x, {i.var, i.var}));
                }},
        Mistake{"belongs to another operator too",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  b.compute("Y", {i}, b.read(x, {i.var, i.var}));
                  b.compute("Z", {i}, b.read(x, {i.var, i.var}));
                }},
        Mistake{"'a b' is not a name",
                [](DagBuilder& b, TensorId) { b.placeholder("a b", {4}, ir::Scalar::F32); }},
        Mistake{"is empty",
                [](DagBuilder& b, TensorId) { b.placeholder("Z", {0}, ir::Scalar::F32); }},
        Mistake{"over no axis",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  b.reduce("Y", {i}, {}, ir::BinaryOp::Add, b.read(x, {i.var, i.var}),
                           ir::Scalar::F32);
                }},
        Mistake{"cannot reduce",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  const Axis k = b.axis("k", 4);
                  b.reduce("Y", {i}, {k}, ir::BinaryOp::Sub, b.read(x, {i.var, k.var}),
                           ir::Scalar::F32);
                }},
        Mistake{"not defined yet",
                [](DagBuilder& b, TensorId) {
                  const Axis i = b.axis("i", 4);
                  b.compute("Y", {i}, ir::load(ir::Scalar::F32, 9, {i.var}));
                }},
        Mistake{"reads X as f64",
                [](DagBuilder& b, TensorId x) {
                  const Axis i = b.axis("i", 4);
                  b.compute("Y", {i}, ir::load(ir::Scalar::F64, x, {i.var, i.var}));
                }},
        Mistake{"X is not of a tuple", [](DagBuilder& b, TensorId x) { b.discard(x); }},
        Mistake{"computes nothing", [](DagBuilder&, TensorId) {}}));

}  // namespace
}  // namespace tilewright::te
