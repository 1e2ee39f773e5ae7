#include "arith/simplify_compare.h"

#include <gtest/gtest.h>

#include "arith/linear_testing.h"

namespace tilewright::arith {
namespace {

using ir::BinaryOp;
using ir::Expr;

Linear difference_of(const Linear& a, const Linear& b) {
  Linear difference = a;
  difference.add(b, -1);
  return difference;
}

std::string compared(const Expr& like, const Linear& a, const Linear& b) {
  return ir::to_string(compare_linear(like, a, b, difference_of(a, b)));
}

class SimplifyCompareTest : public ::testing::Test {
 protected:
  const Expr i_ = ir::var("i"), x_ = ir::var("x"), y_ = ir::var("y");
  const Expr s_ = ir::var("s", {ir::Scalar::I32, 1});
};

TEST_F(SimplifyCompareTest, TheRangeOfTheDifferenceDecides) {
  const Linear i = form({term(i_, 1, {0, 15})});
  EXPECT_EQ(compared(i_ < 16, i, form({}, 16)), "true");
  EXPECT_EQ(compared(i_ >= 16, i, form({}, 16)), "false");
  EXPECT_EQ(compared(i_ < 15, i, form({}, 15)), "i < 15");
  const Expr lanes = ir::ramp(i_, 1, 4);
  Linear ramp = i;
  ramp.add_lane(1, 4);
  EXPECT_EQ(compared(lanes < 19, ramp, form({}, 19)), "x4(true)");
}

TEST_F(SimplifyCompareTest, OneForm) {
  EXPECT_EQ(compared(x_ * 4 + 3 < y_ * 4 + 16, form({term(x_, 4)}, 3), form({term(y_, 4)}, 16)),
            "x < y + 4");
  EXPECT_EQ(compared(ir::int_imm(7) < x_, form({}, 7), form({term(x_, 1)})), "x >= 8");
  const Expr equal = ir::binary(BinaryOp::Eq, x_ * 2, ir::int_imm(5));
  EXPECT_EQ(compared(equal, form({term(x_, 2)}), form({}, 5)), "false");
}

TEST_F(SimplifyCompareTest, NothingThatMayOverflowIsRewritten) {
  const Expr like = i_ * 3 < i_ * 2;
  const Interval huge{0, INT64_MAX / 2};
  const Linear a = form({term(i_, 3, huge)}), b = form({term(i_, 2, huge)});
  EXPECT_TRUE(compare_linear(like, a, b, difference_of(a, b)).same_as(like));
}

TEST_F(SimplifyCompareTest, NarrowIntegers) {
  const auto number = [](int64_t value) { return ir::int_imm(value, {ir::Scalar::I32, 1}); };
  const Expr byte = ir::cast(ir::Scalar::I32, ir::cast(ir::Scalar::U8, s_));
  EXPECT_EQ(ir::to_string(compare_narrow(s_ < s_, {})), "false");
  EXPECT_EQ(ir::to_string(compare_narrow(byte < number(256), {})), "true");
  const Expr open = byte < number(255), floats = ir::var("f", ir::kF32) < ir::var("g", ir::kF32);
  EXPECT_TRUE(compare_narrow(open, {}).same_as(open));
  EXPECT_TRUE(compare_narrow(floats, {}).same_as(floats));
}

}  // namespace
}  // namespace tilewright::arith
