#include "arith/affine.h"

#include <gtest/gtest.h>

namespace tilewright::arith {
namespace {

using ir::Expr;

TEST(AffineTest, TermsStaySortedAndUnique) {
  Affine form;
  EXPECT_TRUE(form.add_term(7, 2));
  EXPECT_TRUE(form.add_term(3, 1));
  EXPECT_TRUE(form.add_term(5, 4));
  EXPECT_TRUE(form.add_term(5, -1));
  EXPECT_TRUE(form.add_term(9, 0));
  EXPECT_EQ(form, (Affine{.constant = 0, .terms = {{3, 1}, {5, 3}, {7, 2}}}));
  EXPECT_EQ(form.coefficient_of(5), 3);
  EXPECT_EQ(form.coefficient_of(4), 0);
  EXPECT_TRUE(form.add_term(5, -3));
  EXPECT_EQ(form, (Affine{.constant = 0, .terms = {{3, 1}, {7, 2}}}));
}

TEST(AffineTest, AddAndScale) {
  Affine form{.constant = 1, .terms = {{1, 2}}};
  EXPECT_TRUE(form.add({.constant = 3, .terms = {{1, 1}, {2, 5}}}, -2));
  EXPECT_EQ(form, (Affine{.constant = -5, .terms = {{2, -10}}}));
  form.scale(-1);
  EXPECT_EQ(form, (Affine{.constant = 5, .terms = {{2, 10}}}));
  form.scale(0);
  EXPECT_TRUE(form.is_constant());
}

TEST(AffineTest, ReportsOverflow) {
  Affine full;
  for (uint32_t k = 0; k < Affine::kMaxTerms; ++k) EXPECT_TRUE(full.add_term(k, 1));
  EXPECT_TRUE(Affine(full).add_term(3, 1));
  EXPECT_FALSE(Affine(full).add_term(99, 1));
  EXPECT_FALSE(Affine(full).add({.constant = 0, .terms = {{99, 1}}}));
  Affine large{.constant = INT64_MAX, .terms = {{0, INT64_MAX}}};
  EXPECT_FALSE(Affine(large).add_term(0, 1));
  EXPECT_FALSE(Affine(large).add({.constant = 1, .terms = {}}));
  EXPECT_FALSE(Affine{}.add(large, 2));
  EXPECT_THROW(large.scale(2), InternalError);
}

TEST(AffineTest, FormsOfExpressions) {
  const Expr i = ir::var("i"), j = ir::var("j");
  const uint32_t a = i.as<ir::Var>()->id, b = j.as<ir::Var>()->id;
  struct Case {
    Expr expr;
    Affine form;
  };
  const Case cases[] = {
      {ir::int_imm(5), {5, {}}},
      {i, {0, {{a, 1}}}},
      {i * 4 + j - 3, {-3, {{a, 4}, {b, 1}}}},
      {(i + j) * 2 - (j - 1) * 2, {2, {{a, 2}}}},
      {ir::int_imm(3) * (i - 2), {-6, {{a, 3}}}},
      {(i - i + 2) * j, {0, {{b, 2}}}},
      {(i * 4 + 8) / 4, {2, {{a, 1}}}},
      {(i * 4 - 1) / 4, {-1, {{a, 1}}}},
      {(i * 4 + 7) % 4, {3, {}}},
      {(i * 8 + 3) / 4 * 4 + (i * 8 + 3) % 4, {3, {{a, 8}}}},
  };
  for (const Case& c : cases) EXPECT_EQ(affine_of(c.expr), c.form);
}

TEST(AffineTest, NonAffineExpressionsGiveNoForm) {
  const Expr i = ir::var("i"), j = ir::var("j"), n = ir::var("n", {ir::Scalar::I32, 1});
  const Expr cases[] = {
      i * j,
      i / 4,
      (i * 4 + j) % 4,
      i / j,
      i * 4 / -4,
      n,
      ir::load(ir::Scalar::I64, 0, {i}),
      ir::select(i < j, i, j),
      ir::min(i, j),
      ir::cast(ir::Scalar::I64, n),
      ir::ramp(i, 1, 4),
      i * INT64_MAX + i,
      ir::int_imm(INT64_MAX) + i + 1,
  };
  for (const Expr& expr : cases) EXPECT_EQ(affine_of(expr), std::nullopt);
  Expr sum = ir::var("x");
  for (size_t k = 0; k < Affine::kMaxTerms; ++k) sum = sum + ir::var("x");
  EXPECT_EQ(affine_of(sum), std::nullopt);
}

}  // namespace
}  // namespace tilewright::arith
