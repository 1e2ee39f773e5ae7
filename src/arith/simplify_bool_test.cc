#include "arith/simplify_bool.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::Expr;

std::string logical(const Expr& expr) { return ir::to_string(simplify_logical(expr)); }
Expr negation(const Expr& x) { return ir::call(ir::Intrinsic::Not, {x}); }

class SimplifyBoolTest : public ::testing::Test {
 protected:
  const Expr x_ = ir::var("x"), b_ = ir::var("b", ir::kBool), c_ = ir::var("c", ir::kBool);
};

TEST_F(SimplifyBoolTest, Logical) {
  EXPECT_EQ(logical(b_ && b_), "b");
  EXPECT_EQ(logical((b_ && c_) && b_), "b && c");
  EXPECT_EQ(logical(ir::broadcast(b_, 4) && ir::broadcast(c_, 4)), "x4(b && c)");
  const Expr open = b_ || c_;
  EXPECT_TRUE(simplify_logical(open).same_as(open));
}

TEST_F(SimplifyBoolTest, BoundsOfOneValue) {
  EXPECT_EQ(logical(x_ < 3 && x_ < 5), "x < 3");
  EXPECT_EQ(logical(x_ >= 3 || x_ >= 5), "x >= 3");
  EXPECT_EQ(logical(x_ < 3 && x_ >= 3), "false");
  EXPECT_EQ(logical(x_ >= 3 || x_ < 3), "true");
  const Expr window = x_ >= 2 && x_ < 3;
  EXPECT_TRUE(simplify_logical(window).same_as(window));
}

TEST_F(SimplifyBoolTest, Not) {
  EXPECT_EQ(ir::to_string(simplify_not(negation(x_ < 3))), "x >= 3");
  EXPECT_EQ(ir::to_string(simplify_not(negation(negation(b_)))), "b");
  // False for NaN on both sides, so it has no inverse.
  const Expr f = ir::var("f", ir::kF32), floats = negation(f < f);
  EXPECT_TRUE(simplify_not(floats).same_as(floats));
}

}  // namespace
}  // namespace tilewright::arith
