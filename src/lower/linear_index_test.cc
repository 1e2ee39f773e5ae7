#include "lower/linear_index.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

TEST(LinearIndex, SumsTermsInOneCanonicalForm) {
  const Expr i = ir::var("i"), j = ir::var("j");
  struct Case {
    Expr index;
    const char* text;
  };
  const Case cases[] = {
      {ir::int_imm(7), "7"},
      {i, "i"},
      {i - i, "0"},
      {(i * 4 + 3) * 8 + j, "i * 32 + j + 24"},
      {j + i * 2 - 5, "i * 2 + j - 5"},
      {j - i * 3, "i * -3 + j"},
      {i - j * 3, "i - j * 3"},
      {(i * 4 + 3) * 8 + j / 2 - i, "i * 31 + j / 2 + 24"},
      {(i * 8 + 5) / 4 + (j * 6 + 5) % 3, "i * 2 + 3"},
      {(i * 8 - 1) / 4, "i * 2 - 1"},
      {(i / 3) * 2 + (i / 3), "i / 3 * 3"},
      {i * j + i * j, "i * j * 2"},
  };
  for (const Case& c : cases) EXPECT_EQ(ir::to_string(canonical_index(c.index)), c.text);
}

TEST(LinearIndex, ReplacesVariables) {
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
  const auto id = [](const Expr& var) { return var.as<ir::Var>()->id; };
  const ir::Substitution values = {{id(i), ir::int_imm(3)}, {id(j), k}};
  const auto text = [&](const Expr& index) {
    return ir::to_string(canonical_index(index, &values));
  };
  EXPECT_EQ(text(i * 10 + j), "k + 30");
  EXPECT_EQ(text(i * j), "k * 3");
  EXPECT_EQ(text((i + 4) / 2), "3");
  EXPECT_EQ(text((i + j) / 2), "(3 + k) / 2");
  EXPECT_EQ(text(ir::ramp(i * 8, 2, 4)), "ramp(24, 2, 4)");
}

TEST(LinearIndex, ComparesTermsWithoutTheConstant) {
  const Expr i = ir::var("i"), j = ir::var("j");
  EXPECT_TRUE(same_terms(linear_of(i * 2 + j + 1), linear_of(j + i + i)));
  EXPECT_TRUE(same_terms(linear_of(i / 2 + 1), linear_of(i / 2)));
  EXPECT_FALSE(same_terms(linear_of(i * 2 + j), linear_of(i + j)));
  EXPECT_FALSE(same_terms(linear_of(i / 2), linear_of(i / 3)));
}

}  // namespace
}  // namespace tilewright::lower
