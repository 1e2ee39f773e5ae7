#include "te/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "te/dag_builder.h"
#include "te/ops/conv.h"
#include "te/ops/matmul.h"
#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

arith::Affine affine(int64_t constant, std::initializer_list<arith::Term> terms) {
  arith::Affine form;
  form.constant = constant;
  for (const arith::Term& term : terms) EXPECT_TRUE(form.add_term(term.var, term.coefficient));
  return form;
}

TEST(Access, MatmulReadsAreAffineInAxisNumbers) {
  const auto dag = matmul({.m = 4, .n = 5, .k = 6});  // axes i 0, j 1; reduce k 2
  const OpAccess& access = dag->access(2);
  ASSERT_EQ(access.reads.size(), 2u);
  EXPECT_EQ(access.reads[0].tensor, 0u);
  EXPECT_EQ(access.reads[0].dims[0].shifted_axis(), 0u);
  EXPECT_EQ(access.reads[0].dims[1].shifted_axis(), 2u);
  EXPECT_EQ(access.reads[1].dims[0].axes, 0b100u);
  EXPECT_EQ(access.reads[1].dims[1].axes, 0b010u);
  EXPECT_FALSE(access.reads[0].guarded);
  EXPECT_FALSE(access.has_branch);
  EXPECT_FALSE(access.has_expensive_call);
}

TEST(Access, DivisionsAreQuotients) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {6, 4}, ir::Scalar::F32);
  const Axis i = builder.axis("i", 24);
  const Axis j = builder.axis("j", 4);
  const ir::Expr table = builder.read(x, {i.var / 4, i.var % 4}) +
                         builder.read(x, {(i.var / 2) / 2, (i.var / 6) % 4}) +
                         builder.read(x, {(i.var / 8) * 2 + j.var, (i.var % 5) % 2}) +
                         builder.read(x, {i.var * i.var, j.var});
  builder.compute("Y", {i, j}, table);
  const OpAccess access = std::move(builder).build()->access(1);
  ASSERT_EQ(access.reads.size(), 4u);
  const auto quotient = [&](const AccessDim& dim) -> Quotient {
    EXPECT_TRUE(dim.quasi_affine && !dim.affine);
    for (const arith::Term& term : dim.index.terms) {
      if (term.var >= kFirstQuotient) return access.quotients[term.var - kFirstQuotient];
    }
    return {};
  };
  const arith::Affine of = affine(0, {{0, 1}});
  EXPECT_EQ(quotient(access.reads[0].dims[0]), (Quotient{.of = of, .divisor = 4}));
  EXPECT_EQ(quotient(access.reads[0].dims[1]), (Quotient{.of = of, .divisor = 1, .modulus = 4}));
  // Equal quotients are one.
  EXPECT_EQ(access.reads[1].dims[0].index, access.reads[0].dims[0].index);
  EXPECT_EQ(quotient(access.reads[1].dims[1]), (Quotient{.of = of, .divisor = 6, .modulus = 4}));
  EXPECT_EQ(quotient(access.reads[2].dims[0]), (Quotient{.of = of, .divisor = 8}));
  EXPECT_EQ(access.reads[2].dims[0].index.coefficient_of(1), 1);
  // A modulo of a modulo and a product of axes are neither.
  EXPECT_FALSE(access.reads[2].dims[1].quasi_affine);
  EXPECT_FALSE(access.reads[3].dims[0].affine || access.reads[3].dims[0].quasi_affine);
}

TEST(Access, ConvolutionIsAffineAndItsBorderIsGuarded) {
  const auto dag =
      conv({.window = {.input = {9, 9}, .kernel = {3, 3}, .stride = 2, .pad = 1, .dilation = 2},
            .ci = 4,
            .co = 8});
  ASSERT_TRUE(dag.has_value());
  const OpAccess& pad = (*dag)->access(2);
  ASSERT_EQ(pad.reads.size(), 1u);
  EXPECT_TRUE(pad.reads[0].guarded);
  EXPECT_TRUE(pad.has_branch);
  EXPECT_EQ(pad.reads[0].dims[1].index, affine(-1, {{1, 1}}));

  const OpAccess& conv = (*dag)->access(3);  // n 0, y 1, x 2, c 3; ry 4, rx 5, rc 6
  ASSERT_EQ(conv.reads.size(), 2u);
  EXPECT_FALSE(conv.reads[0].guarded);
  EXPECT_EQ(conv.reads[0].dims[1].index, affine(0, {{1, 2}, {4, 2}}));
  EXPECT_EQ(conv.reads[0].dims[1].shifted_axis(), std::nullopt);
  EXPECT_EQ(conv.reads[0].dims[3].index, affine(0, {{6, 1}}));
}

TEST(Access, GroupedIndicesAreNotAffineButListTheirAxes) {
  const auto dag =
      conv({.window = {.input = {4, 4}, .kernel = {1, 1}}, .ci = 8, .co = 8, .groups = 2});
  ASSERT_TRUE(dag.has_value());
  const AccessDim& channel = (*dag)->access(2).reads[0].dims[3];
  EXPECT_FALSE(channel.affine);
  EXPECT_EQ(channel.axes, (uint64_t{1} << 3) | (uint64_t{1} << 6));
}

TEST(Access, ExpIsExpensive) {
  const auto dag = softmax(4, 8);
  EXPECT_TRUE(dag->access(2).has_expensive_call);   // E
  EXPECT_FALSE(dag->access(5).has_expensive_call);  // Y
}

TEST(Access, SelectsOnUnrolledAxesAreFree) {
  const auto instructions = [](bool hinted) {
    DagBuilder builder;
    const TensorId x = builder.placeholder("X", {3, 8}, ir::Scalar::F32);
    const AxisHints hints = {.simplify_const_index = hinted};
    const Axis a = builder.axis("a", 3, hints), i = builder.axis("i", 8);
    const auto equals = [](const Axis& axis, int64_t value) {
      return ir::binary(ir::BinaryOp::Eq, axis.var, ir::int_imm(value));
    };
    const ir::Expr entry = ir::select(equals(a, 0), ir::imm(2, ir::kF32), ir::imm(3, ir::kF32)) *
                           ir::select(equals(i, 0), ir::imm(5, ir::kF32), ir::imm(7, ir::kF32));
    builder.compute("Y", {a, i}, entry * builder.read(x, {a.var, i.var}));
    const OpAccess access = std::move(builder).build()->access(1);
    EXPECT_EQ(access.reads.size(), 1u);
    return access.instructions;
  };
  EXPECT_EQ(instructions(false), 3 + 2 * 5);  // two products and a load; selects and comparisons
  EXPECT_EQ(instructions(true), 3 + 5);
}

TEST(Access, EqualReadsMergeAndAreGuardedIfAllAre) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {8}, ir::Scalar::F32);
  const TensorId p = builder.placeholder("P", {8}, ir::Scalar::I64);
  const Axis i = builder.axis("i", 7);
  const ir::Expr here = builder.read(x, {i.var});
  const ir::Expr next = builder.read(x, {i.var + 1});
  const ir::Expr gathered = builder.read(x, {builder.read(p, {i.var})});
  const ir::Expr chosen =
      ir::select(here < builder.read(x, {ir::int_imm(3)}), here + next, next * gathered);
  builder.compute("Y", {i}, chosen + builder.read(x, {i.var}));
  const auto dag = std::move(builder).build();
  const OpAccess& access = dag->access(2);
  ASSERT_EQ(access.reads.size(), 5u);  // X[i], X[3], X[i+1], X[P[i]], P[i]
  EXPECT_FALSE(access.reads[0].guarded);
  EXPECT_TRUE(access.reads[1].dims[0].is_constant());
  EXPECT_FALSE(access.reads[1].guarded);
  EXPECT_TRUE(access.reads[2].guarded);
  EXPECT_FALSE(access.reads[3].dims[0].affine);
  EXPECT_EQ(access.reads[3].dims[0].axes, 1u);
  EXPECT_EQ(access.reads[4].tensor, p);
  EXPECT_TRUE(access.reads[4].guarded);
}

}  // namespace
}  // namespace tilewright::te
