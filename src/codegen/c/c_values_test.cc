// Text, values and arithmetic alone: no kernel around them.
#include "codegen/c/c_values.h"

#include <gtest/gtest.h>

#include "codegen/c/c_arithmetic.h"

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;

CValue scalar(const std::string& text, arith::Interval range = arith::kEverything) {
  return {.type = ir::kIndex, .pieces = {{text}}, .range = range};
}

TEST(CText, NamesAreFreeAgainAfterTheirBlock) {
  CText text;
  EXPECT_EQ(text.fresh("i.0"), "i_0");
  EXPECT_EQ(text.fresh("i.0"), "i_0_1");
  EXPECT_EQ(text.fresh("for"), "for_1");
  EXPECT_EQ(text.fresh("tw_x"), "vtw_x");
  text.block([&] { EXPECT_EQ(text.fresh("j"), "j"); });
  EXPECT_EQ(text.fresh("j"), "j");
  EXPECT_EQ(CText::within(text).fresh("j"), "j_1");
}

TEST(CText, LinesApartAreIndentedWhereTheyWereWritten) {
  CText text;
  const std::string apart = text.apart([&] { text.block([&] { text.line("x;"); }); });
  text.line("y;");
  text.append(apart);
  EXPECT_EQ(text.text(), "  y;\n    x;\n");
}

class CValuesTest : public ::testing::Test {
 protected:
  CText text_;
  Helpers helpers_;
  CValues values_{text_, helpers_, 8};
  CArithmetic arithmetic_{values_};
};

TEST_F(CValuesTest, WhatIsNoAtomGetsAName) {
  EXPECT_EQ(values_.bound(scalar("i_0")).pieces[0].text, "i_0");
  EXPECT_EQ(values_.bound(scalar("i + 1")).pieces[0].text, "t0");
  EXPECT_EQ(text_.text(), "  const int64_t t0 = i + 1;\n");
}

TEST_F(CValuesTest, LanesAreFoundInTheirPieces) {
  const CValue value{.type = {ir::Scalar::F32, 13}, .pieces = {{"a"}, {"b"}, {"c"}}};
  EXPECT_EQ(values_.lane(value, 7), "a[7]");
  EXPECT_EQ(values_.lane(value, 8), "b[0]");
  EXPECT_EQ(values_.lane(value, 12), "c");
}

TEST_F(CValuesTest, PlainOperatorsWhereNothingCanWrap) {
  const CValue small = scalar("i", {0, 100});
  const CValue sum = arithmetic_.index_arithmetic(BinaryOp::Add, small, scalar("j", {0, 9}));
  EXPECT_EQ(sum.pieces[0].text, "i + j");
  EXPECT_EQ(sum.range.high, 109);
  EXPECT_EQ(arithmetic_.index_arithmetic(BinaryOp::Mul, sum, small).pieces[0].text, "(i + j) * i");
  EXPECT_EQ(arithmetic_.index_arithmetic(BinaryOp::Add, small, scalar("k")).pieces[0].text,
            "tw_add_i64(i, k)");
}

TEST_F(CValuesTest, EasyDivisors) {
  const int64_t eight = 8, seven = 7;
  EXPECT_EQ(
      arithmetic_.divide_by_constant(BinaryOp::Div, scalar("i", {0, 9}), &seven)->pieces[0].text,
      "i / 7");
  EXPECT_EQ(arithmetic_.divide_by_constant(BinaryOp::Mod, scalar("i"), &eight)->pieces[0].text,
            "(i & 7)");
  EXPECT_FALSE(arithmetic_.divide_by_constant(BinaryOp::Div, scalar("i"), &seven).has_value());
}

}  // namespace
}  // namespace tilewright::codegen
