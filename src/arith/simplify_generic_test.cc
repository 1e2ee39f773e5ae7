#include "arith/simplify_generic.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::BinaryOp;
using ir::Expr;

std::string simplified(const Expr& expr) { return ir::to_string(simplify_node(expr)); }

class SimplifyGenericTest : public ::testing::Test {
 protected:
  const Expr f_ = ir::var("f", ir::kF32), b_ = ir::var("b", ir::kBool);
  const Expr s_ = ir::var("s", {ir::Scalar::I32, 1});
};

TEST_F(SimplifyGenericTest, Integers) {
  const auto number = [](int64_t value) { return ir::int_imm(value, {ir::Scalar::I32, 1}); };
  EXPECT_EQ(simplified(s_ - s_), "i32(0)");
  EXPECT_EQ(simplified(s_ * number(0)), "i32(0)");
  EXPECT_EQ(simplified(number(3) + s_), "s + i32(3)");
}

TEST_F(SimplifyGenericTest, FloatsKeepTheirBits) {
  const auto number = [](double value) { return ir::float_imm(value, ir::kF32); };
  EXPECT_EQ(simplified(f_ * number(1)), "f");
  EXPECT_EQ(simplified(f_ + number(-0.0)), "f");
  for (const Expr& kept : {f_ - f_, f_ * number(0), f_ + number(0)}) {
    EXPECT_TRUE(simplify_node(kept).same_as(kept)) << ir::to_string(kept);
  }
}

TEST_F(SimplifyGenericTest, Selects) {
  const Expr yes = ir::int_imm(1, ir::kBool), no = ir::int_imm(0, ir::kBool);
  EXPECT_EQ(simplified(ir::select(b_, f_, f_)), "f");
  EXPECT_EQ(simplified(ir::select(b_, yes, no)), "b");
  EXPECT_EQ(simplified(ir::select(b_, no, yes)), "not(b)");
  EXPECT_EQ(simplified(ir::binary(BinaryOp::Eq, b_, no)), "not(b)");
}

TEST_F(SimplifyGenericTest, BroadcastsBecomeScalars) {
  const Expr v = ir::broadcast(f_, 4);
  EXPECT_EQ(simplified(v * v), "x4(f * f)");
  EXPECT_EQ(simplified(v * ir::broadcast(ir::float_imm(1, ir::kF32), 4)), "x4(f)");
  EXPECT_EQ(simplified(ir::load(ir::Scalar::F32, 0, {ir::broadcast(ir::var("x"), 4)})),
            "x4(b0[x])");
  EXPECT_EQ(simplified(ir::vector_reduce(BinaryOp::Max, v)), "f");
  const Expr sum = ir::vector_reduce(BinaryOp::Add, v);
  EXPECT_TRUE(simplify_node(sum).same_as(sum));
}

}  // namespace
}  // namespace tilewright::arith
