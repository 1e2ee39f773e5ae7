#include "arith/interval.h"

#include <gtest/gtest.h>

namespace tilewright::arith {
namespace {

using ir::Expr;

ir::VarId id(const Expr& var) { return var.as<ir::Var>()->id; }

TEST(Interval, OfExpressions) {
  // i, j in [0, 99], [0, 7]; n >= 1; x, y anything.
  const Expr i = ir::var("i"), j = ir::var("j"), n = ir::var("n"), x = ir::var("x");
  const Expr y = ir::var("y"), b = ir::var("b", ir::kBool), f = ir::var("f", ir::kF32);
  const Expr s = ir::var("s", {ir::Scalar::I32, 1});
  const Bounds bounds = {{id(i), {0, 99}}, {id(j), {0, 7}}, {id(n), {1, INT64_MAX}}};
  EXPECT_EQ(interval_of(i * 3 - j, bounds), (Interval{-7, 297}));
  EXPECT_EQ(interval_of((i - 50) / 8, bounds), (Interval{-7, 6}));
  EXPECT_EQ(interval_of((i - 50) % 8, bounds), (Interval{0, 7}));
  EXPECT_EQ(interval_of(j % 32 + i / (j + 1), bounds), (Interval{0, 106}));
  EXPECT_EQ(interval_of(ir::select(b, i, j * -1), bounds), (Interval{-7, 99}));
  EXPECT_EQ(interval_of(ir::ramp(i, -2, 4), bounds), (Interval{-6, 99}));
  EXPECT_EQ(interval_of(ir::min(x, ir::int_imm(3)), bounds), std::nullopt);
  EXPECT_EQ(interval_of(ir::max(ir::min(x, ir::int_imm(3)), ir::int_imm(0)), bounds),
            (Interval{0, 3}));
  EXPECT_EQ(interval_of(x % 5, bounds), (Interval{0, 4}));
  EXPECT_EQ(interval_of(s, bounds), (Interval{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(interval_of(s + s, bounds), (Interval{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(interval_of(x < y, bounds), (Interval{0, 1}));
  EXPECT_EQ(interval_of(f, bounds), std::nullopt);
  EXPECT_EQ(interval_of(n, bounds), std::nullopt);
}

TEST(Interval, OverflowGivesTheRangeOfTheType) {
  const Expr h = ir::var("h");
  const Bounds huge = {{id(h), {0, INT64_MAX / 2}}};
  EXPECT_EQ(interval_of(h * 4, huge), std::nullopt);
  EXPECT_EQ(range_of(h * 4, huge), kEverything);
  EXPECT_EQ(interval_of(h + 1, huge), (Interval{1, INT64_MAX / 2 + 1}));
}

}  // namespace
}  // namespace tilewright::arith
