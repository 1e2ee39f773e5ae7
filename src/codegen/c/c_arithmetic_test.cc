// CArithmetic alone: values in, the text of their operation out.
#include "codegen/c/c_arithmetic.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;
using ir::Scalar;

CValue scalar(const std::string& text, arith::Interval range = arith::kEverything) {
  return {.type = ir::kIndex, .pieces = {{text}}, .range = range};
}
CValue value_of(ir::Type type, const std::string& text, int mask_bytes = 0) {
  return {.type = type, .pieces = {{text}}, .mask_bytes = mask_bytes};
}

class CArithmeticTest : public ::testing::Test {
 protected:
  std::string compare(BinaryOp op, ir::Type type, int mask_bytes = 0) {
    const CValue result =
        arithmetic_.compare(op, value_of(type, "a", mask_bytes), value_of(type, "b", mask_bytes));
    EXPECT_EQ(result.type, ir::kBool.with_lanes(type.lanes));
    return result.pieces[0].text;
  }

  CText text_;
  Helpers helpers_;
  CValues values_{text_, helpers_, 8};
  CArithmetic arithmetic_{values_};
};

TEST_F(CArithmeticTest, PlainOperatorsIfNothingCanWrap) {
  const CValue small = scalar("i", {0, 100});
  const CValue sum = arithmetic_.index_arithmetic(BinaryOp::Add, small, scalar("j", {0, 9}));
  EXPECT_EQ(sum.pieces[0].text, "i + j");
  EXPECT_EQ(sum.range.high, 109);
  EXPECT_EQ(arithmetic_.index_arithmetic(BinaryOp::Mul, sum, small).pieces[0].text, "(i + j) * i");
  EXPECT_EQ(arithmetic_.index_arithmetic(BinaryOp::Add, small, scalar("k")).pieces[0].text,
            "tw_add_i64(i, k)");
}

TEST_F(CArithmeticTest, EasyDivisors) {
  const int64_t eight = 8, seven = 7;
  EXPECT_EQ(
      arithmetic_.divide_by_constant(BinaryOp::Div, scalar("i", {0, 9}), &seven)->pieces[0].text,
      "i / 7");
  EXPECT_EQ(arithmetic_.divide_by_constant(BinaryOp::Mod, scalar("i"), &eight)->pieces[0].text,
            "(i & 7)");
  EXPECT_FALSE(arithmetic_.divide_by_constant(BinaryOp::Div, scalar("i"), &seven).has_value());
}

TEST_F(CArithmeticTest, AnyDivisor) {
  EXPECT_EQ(arithmetic_.divide(BinaryOp::Mod, scalar("i"), scalar("n")).pieces[0].text,
            "tw_mod_i64(i, n)");
  const ir::Type byte{Scalar::U8, 1};
  EXPECT_EQ(
      arithmetic_.divide(BinaryOp::Div, value_of(byte, "a"), value_of(byte, "b")).pieces[0].text,
      "tw_divu_u8(a, b)");
}

TEST_F(CArithmeticTest, DisabledLanesDivideByOne) {
  const CValue divisors = value_of({Scalar::I32, 8}, "b");
  const CValue mask = value_of({Scalar::Bool, 8}, "m", 4);
  EXPECT_EQ(arithmetic_.or_one(divisors, mask).pieces[0].text,
            "tw_select_i32x8(m, b, tw_splat_i32x8(1))");
}

TEST_F(CArithmeticTest, Combine) {
  const Piece a{"a"}, sum{"b + c", Precedence::Sum};
  const auto combined = [&](BinaryOp op, CType type) {
    return arithmetic_.combine(op, type, a, sum).text;
  };
  EXPECT_EQ(combined(BinaryOp::Mul, {CBase::F32, 8}), "a * (b + c)");
  EXPECT_EQ(combined(BinaryOp::Sub, {CBase::F32, 1}), "a - (b + c)");
  EXPECT_EQ(combined(BinaryOp::Mul, {CBase::I32, 1}), "tw_mul_i32(a, b + c)");  // wraps
  EXPECT_EQ(combined(BinaryOp::Min, {CBase::F32, 1}), "tw_min_f32(a, b + c)");  // NaN
  EXPECT_EQ(combined(BinaryOp::BitXor, {CBase::I32, 8}), "(a ^ (b + c))");
  EXPECT_EQ(arithmetic_.combine(BinaryOp::Or, {CBase::Bool, 1}, a, {"b"}).text, "(a || b)");
}

TEST_F(CArithmeticTest, Comparisons) {
  EXPECT_EQ(compare(BinaryOp::Le, ir::kF32), "(a <= b)");
  EXPECT_EQ(compare(BinaryOp::Lt, {Scalar::F32, 8}), "(tw_i32x8)(a < b)");
  EXPECT_EQ(compare(BinaryOp::Ge, {Scalar::U8, 1}), "tw_ge_u8(a, b)");
  // True is -1 in a mask.
  EXPECT_EQ(compare(BinaryOp::Lt, {Scalar::Bool, 8}, 4), "(tw_i32x8)(b < a)");
  EXPECT_EQ(compare(BinaryOp::Eq, {Scalar::Bool, 8}, 4), "(tw_i32x8)(a == b)");
}

}  // namespace
}  // namespace tilewright::codegen
