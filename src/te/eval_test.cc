#include "te/eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "te/dag_builder.h"
#include "te/ops/table.h"

namespace tilewright::te {
namespace {

// Evaluates Y[0] of `value` computed from the inputs X (f32) = x and K (i32) = k.
double value_of(const std::function<ir::Expr(ir::Expr x, ir::Expr k)>& make, double x, double k) {
  DagBuilder builder;
  const TensorId a = builder.placeholder("X", {1}, ir::Scalar::F32);
  const TensorId b = builder.placeholder("K", {1}, ir::Scalar::I32);
  const Axis i = builder.axis("i", 1);
  const TensorId y =
      builder.compute("Y", {i}, make(builder.read(a, {i.var}), builder.read(b, {i.var})));
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag, [&](TensorId tensor, int64_t) { return tensor == a ? x : k; });
  const int64_t zero[] = {0};
  return evaluator.element(y, zero);
}

TEST(Eval, Expressions) {
  using ir::Expr;
  const auto int_op = [](ir::BinaryOp op, int64_t by) {
    return [=](const Expr&, const Expr& k) { return ir::binary(op, k, ir::int_imm(by, k.type())); };
  };
  using enum ir::BinaryOp;
  EXPECT_EQ(value_of(int_op(Div, 2), 0, -7), -4);
  EXPECT_EQ(value_of(int_op(Mod, 2), 0, -7), 1);
  EXPECT_EQ(value_of(int_op(Div, -2), 0, 7), -4);
  EXPECT_EQ(value_of(int_op(Add, 1), 0, 2147483647), -2147483648.0);  // wraps
  EXPECT_EQ(value_of(int_op(Mul, 65536), 0, 65537), 65536);
  EXPECT_EQ(value_of(int_op(ShiftRight, 1), 0, -3), -2);
  EXPECT_EQ(value_of(int_op(BitAnd, 6), 0, 11), 2);
  EXPECT_EQ(value_of(int_op(Le, 3), 0, 3), 1);

  const auto call = [](ir::Intrinsic f) {
    return [=](const Expr& x, const Expr&) { return ir::call(f, {x}); };
  };
  EXPECT_EQ(value_of(call(ir::Intrinsic::Neg), 1.5, 0), -1.5);
  EXPECT_EQ(value_of(call(ir::Intrinsic::Abs), -1.5, 0), 1.5);
  EXPECT_EQ(value_of(call(ir::Intrinsic::Round), 2.5, 0), 2);
  EXPECT_EQ(value_of(call(ir::Intrinsic::Sqrt), 2.25, 0), 1.5);
  EXPECT_EQ(value_of(call(ir::Intrinsic::Exp), 1, 0), std::exp(1.0));
  EXPECT_DOUBLE_EQ(value_of(call(ir::Intrinsic::Sigmoid), 0, 0), 0.5);

  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto relu = [](const Expr& x, const Expr&) { return ir::max(x, ir::imm(0, x.type())); };
  EXPECT_TRUE(std::isnan(value_of(relu, nan, 0)));
  EXPECT_EQ(value_of(relu, -3, 0), 0);
}

// Rounds to f32, though f64 could hold more.
TEST(Eval, DenormalsAreZerosUnlessTheyAreKept) {
  const std::shared_ptr<const Dag> dag =
      parse_operator("elementwise:shape=2,chain=scale(0.5)").value().dag;
  constexpr double kMinNormal = std::numeric_limits<float>::min();
  const auto half_of = [&](double x, bool denormals) {
    Evaluator evaluator(*dag, [x](TensorId, int64_t) { return x; }, denormals);
    return evaluator.element(dag->outputs()[0], {{0}});
  };
  EXPECT_EQ(half_of(2 * kMinNormal, false), kMinNormal);
  EXPECT_EQ(half_of(kMinNormal, false), 0);
  EXPECT_EQ(half_of(kMinNormal / 4, false), 0);
  EXPECT_EQ(half_of(kMinNormal, true), kMinNormal / 2);
  EXPECT_EQ(half_of(kMinNormal / 4, true), kMinNormal / 8);
}

TEST(Eval, CastsFollowTheRulesOfTypes) {
  using ir::Expr;
  const auto through = [](ir::Scalar to) {
    return [=](const Expr& x, const Expr&) { return ir::cast(ir::Scalar::F32, ir::cast(to, x)); };
  };
  EXPECT_EQ(value_of(through(ir::Scalar::F16), 2049, 0), 2048);
  EXPECT_EQ(value_of(through(ir::Scalar::BF16), 257, 0), 256);
  EXPECT_EQ(value_of(through(ir::Scalar::I8), -300.7, 0), -128);
  EXPECT_EQ(value_of(through(ir::Scalar::I32), -2.9, 0), -2);
  EXPECT_EQ(value_of(through(ir::Scalar::Bool), 0.25, 0), 1);
  const auto narrow = [](const Expr&, const Expr& k) { return ir::cast(ir::Scalar::I8, k); };
  EXPECT_EQ(value_of(narrow, 0, 300), 44);
}

TEST(Eval, SelectIsLazy) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {4}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 6);
  const TensorId y = builder.compute(
      "Y", {i},
      ir::select(i.var >= 1 && i.var < 5, builder.read(x, {i.var - 1}), ir::imm(0, ir::kF32)));
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag,
                      [](TensorId, int64_t offset) { return static_cast<double>(offset + 1); });
  const double expected[] = {0, 1, 2, 3, 4, 0};
  for (int64_t k = 0; k < 6; ++k) {
    EXPECT_EQ(evaluator.element(y, std::array{k}), expected[k]);
  }
  EXPECT_THROW(evaluator.element(y, std::array<int64_t, 1>{6}), InternalError);
  EXPECT_THROW(evaluator.element(x, std::array<int64_t, 2>{0, 0}), InternalError);
}

// (value, index) of the largest element, the first of equals: a reduction of pairs.
Reduction argmax() {
  const ir::Type value = ir::kF32;
  const ir::Expr lv = ir::var("lv", value), rv = ir::var("rv", value);
  const ir::Expr li = ir::var("li"), ri = ir::var("ri");
  const ir::Expr better =
      ir::binary(ir::BinaryOp::Gt, rv, lv) || (ir::binary(ir::BinaryOp::Eq, rv, lv) && ri < li);
  return {.identity = {ir::imm(-std::numeric_limits<double>::infinity(), value),
                       ir::int_imm(std::numeric_limits<int64_t>::max())},
          .lhs = {lv, li},
          .rhs = {rv, ri},
          .combine = {ir::select(better, rv, lv), ir::select(better, ri, li)}};
}

TEST(Eval, ArgmaxIsAReductionOfPairs) {
  const std::vector<double> data = {3, 9, 9, 1, /**/ -5, -7, -1, -2};
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {2, 4}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 2);
  const Axis k = builder.axis("k", 4);
  const auto outputs =
      builder.reduce_tuple("R", {i}, {k}, argmax(), {builder.read(x, {i.var, k.var}), k.var},
                           {ir::Scalar::F32, ir::Scalar::I32});
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag,
                      [&](TensorId, int64_t offset) { return data[static_cast<size_t>(offset)]; });
  EXPECT_EQ(evaluator.element(outputs[0], std::array<int64_t, 1>{0}), 9);
  EXPECT_EQ(evaluator.element(outputs[1], std::array<int64_t, 1>{0}), 1);
  EXPECT_EQ(evaluator.element(outputs[0], std::array<int64_t, 1>{1}), -1);
  EXPECT_EQ(evaluator.element(outputs[1], std::array<int64_t, 1>{1}), 2);
}

TEST(Eval, TheLargestI64IsTheIdentityOfAMinimum) {
  const ir::Expr largest = ir::int_imm(std::numeric_limits<int64_t>::max());
  const ir::Expr lhs = ir::var("lhs"), rhs = ir::var("rhs");
  const auto smaller = [&](const ir::Expr& a, const ir::Expr& b) {
    return ir::select(ir::binary(ir::BinaryOp::Lt, a, b), a, b);
  };
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {3}, ir::Scalar::I64);
  const Axis i = builder.axis("i", 1);
  const Axis k = builder.axis("k", 3);
  const auto outputs = builder.reduce_tuple(
      "Y", {i}, {k},
      {.identity = {largest}, .lhs = {lhs}, .rhs = {rhs}, .combine = {smaller(lhs, rhs)}},
      {builder.read(x, {k.var})}, {ir::Scalar::I64});
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag, [](TensorId, int64_t k) { return static_cast<double>(7 - k); });
  EXPECT_EQ(evaluator.element(outputs[0], std::array<int64_t, 1>{0}), 5);
}

TEST(Eval, ReductionsOverSeveralAxesVisitAllOnce) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {3, 4, 5}, ir::Scalar::I32);
  const Axis i = builder.axis("i", 3);
  const Axis k = builder.axis("k", 4);
  const Axis l = builder.axis("l", 5);
  const TensorId y = builder.reduce("Y", {i}, {k, l}, ir::BinaryOp::Add,
                                    builder.read(x, {i.var, k.var, l.var}), ir::Scalar::I32);
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag, [](TensorId, int64_t offset) { return static_cast<double>(offset); });
  for (int64_t n = 0; n < 3; ++n) {
    EXPECT_EQ(evaluator.element(y, std::array{n}), 20 * 20 * static_cast<double>(n) + 190);
  }
}

TEST(Eval, StorageTypesRoundAtTheStore) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {1}, ir::Scalar::F16);
  const Axis i = builder.axis("i", 1);
  const TensorId t =
      builder.compute("T", {i}, builder.read(x, {i.var}) + ir::imm(1, ir::kF32), ir::Scalar::F16);
  const Axis j = builder.axis("j", 1);
  const Axis k = builder.axis("k", 2);
  const TensorId s =
      builder.reduce("S", {j}, {k}, ir::BinaryOp::Add, builder.read(t, {j.var}), ir::Scalar::BF16);
  const auto dag = std::move(builder).build();
  Evaluator evaluator(*dag, [](TensorId, int64_t) { return 2048.0; });
  EXPECT_EQ(evaluator.element(t, std::array<int64_t, 1>{0}), 2048);  // 2049 is not an f16
  EXPECT_EQ(evaluator.element(s, std::array<int64_t, 1>{0}), 4096);
}

}  // namespace
}  // namespace tilewright::te
