#include "arith/simplify.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::arith {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::ForKind;
using ir::Scalar;
using ir::Stmt;

constexpr ir::Type kI32{Scalar::I32, 1};

class SimplifyTest : public ::testing::Test {
 public:
  static ir::VarId id(const Expr& v) { return v.as<ir::Var>()->id; }
  static Expr op(BinaryOp o, const Expr& a, const Expr& b) { return ir::binary(o, a, b); }
  static Expr le(const Expr& a, const Expr& b) { return op(BinaryOp::Le, a, b); }
  static Expr gt(const Expr& a, const Expr& b) { return op(BinaryOp::Gt, a, b); }
  static Expr eq(const Expr& a, const Expr& b) { return op(BinaryOp::Eq, a, b); }
  static Expr negate(const Expr& a) { return ir::call(ir::Intrinsic::Not, {a}); }
  static Expr c(int64_t value) { return ir::int_imm(value); }
  static Expr x4(const Expr& value) { return ir::broadcast(value, 4); }

  // i, j, k in [0, 99], [0, 7], [0, 3]; n >= 1; x, y anything.
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k"), n = ir::var("n");
  const Expr x = ir::var("x"), y = ir::var("y"), b = ir::var("b", ir::kBool);
  const Expr f = ir::var("f", ir::kF32), s = ir::var("s", kI32);
  const Bounds bounds = {
      {id(i), {0, 99}}, {id(j), {0, 7}}, {id(k), {0, 3}}, {id(n), {1, INT64_MAX}}};

  struct Case {
    Expr expr;
    const char* text;
  };
  void check(std::initializer_list<Case> cases) {
    for (const Case& item : cases) {
      const Expr once = simplify(item.expr, bounds);
      EXPECT_EQ(ir::to_string(once), item.text) << "from " << ir::to_string(item.expr);
      EXPECT_EQ(once.type(), item.expr.type());
      EXPECT_TRUE(simplify(once, bounds).same_as(once)) << ir::to_string(once);
    }
  }
};

TEST_F(SimplifyTest, Sums) {
  check({
      {x * 4 + y + x * -4, "y"},
      {x + x + x, "x * 3"},
      {c(3) + x + 4, "x + 7"},
      {(x + 1) * 4 - (x - y) * 2, "x * 2 + y * 2 + 4"},
      {c(7) - x, "7 - x"},
      {c(0) - x, "x * -1"},
      {c(0) - x + y, "y - x"},
      {x - (y + 3), "x - y - 3"},
      {x * y * 2 + y * 0, "x * y * 2"},
      {x * y - x * y, "0"},
      {(x * 2) * (y * 3), "x * y * 6"},
      {(x + 1) * (y + 2), "(x + 1) * (y + 2)"},
      {x * INT64_MAX + x * 2, "x * -9223372036854775807"},
      {c(INT64_MIN) + x, "x + -9223372036854775808"},
  });
}

TEST_F(SimplifyTest, DivisionsAndRemainders) {
  check({
      {(x * 4 + 3) / 4, "x"},
      {(x * 4 + 7) % 4, "3"},
      {(i * 8 + j) / 8, "i"},
      {(i * 8 + j) % 8, "j"},
      {(x * 8 + i) / 8, "x + i / 8"},
      {(x * 12 + 5) / 8, "x + (x + 1) / 2"},
      {(i * 64 + j * 8 + k) / 16, "i * 4 + j / 2"},
      {(i * 64 + j * 8 + k) % 16, "k + j % 2 * 8"},
      {x / 4 / 3, "x / 12"},
      {(x / 4 + 1) / 3, "(x + 4) / 12"},
      {x % 12 % 4, "x % 4"},
      {(x % 12 * 2 + 1) % 8, "x % 4 * 2 + 1"},
      {x % 12 % 5, "x % 12 % 5"},
      {x / 4 * 4 + x % 4, "x"},
      {x / 64 * 64 + x / 8 % 8 * 8 + x % 8, "x"},
      {(x + 5) / 4 * 4 + (x + 5) % 4, "x + 5"},
      {x / 1, "x"},
      {x % 1, "0"},
      {j / 8, "0"},
      {j % 8, "j"},
      {(j - 8) / 8, "-1"},
      {(j + 16) % 8, "j"},
      {j / (n + 7), "0"},
      {j % (n + 7), "j"},
      {x / y, "x / y"},
      {x / -4, "x / -4"},
      {x / 0, "x / 0"},
  });
}

TEST_F(SimplifyTest, MinMaxSelect) {
  check({
      {ir::min(i, c(200)), "i"},
      {ir::max(c(50), i), "max(i, 50)"},
      {ir::min(x + 3, x + 5), "x + 3"},
      {ir::max(ir::max(x, c(3)), c(5)), "max(x, 5)"},
      {ir::min(ir::min(x, y), y), "min(x, y)"},
      {ir::min(x, ir::min(x, y)), "min(x, y)"},
      {ir::min(i * 8 + 8, c(800)) - i * 8, "8"},
      {ir::min(i * 8 + 8, c(798)) - i * 8, "min(i * 8 + 8, 798) - i * 8"},
      {ir::select(i < 100, x, y), "x"},
      {ir::select(x < 100, y + 1, c(1) + y), "y + 1"},
      {ir::select(x < 100, i, c(300)) / 400, "0"},
      {ir::select(b, ir::int_imm(1, ir::kBool), ir::int_imm(0, ir::kBool)), "b"},
      {ir::select(x < y, ir::int_imm(0, ir::kBool), ir::int_imm(1, ir::kBool)), "x >= y"},
      {ir::select(b, f, f), "f"},
  });
}

TEST_F(SimplifyTest, Comparisons) {
  check({
      {i < 100, "true"},
      {i >= 100, "false"},
      {le(j, i + 7), "true"},
      {c(7) < x, "x >= 8"},
      {le(x, c(7)), "x < 8"},
      {gt(x, c(7)), "x >= 8"},
      {x * 4 + 3 < y * 4 + 16, "x < y + 4"},
      {x + 1 < y + 2, "x <= y"},
      {le(x + 1, y), "x < y"},
      {y - x >= 0, "y >= x"},
      {x * 4 < 15, "x < 4"},
      {x * 4 >= 13, "x >= 4"},
      {eq(x * 2, c(5)), "false"},
      {eq(x * 2, c(6)), "x == 3"},
      {op(BinaryOp::Ne, x, y - 3 + 3), "x != y"},
      {eq(i, i + 1), "false"},
      {le(n, c(0)), "false"},
      {i * 8 + j < 800, "true"},
      {i * 8 + j < 799, "i * 8 + j < 799"},
      {x % 4 + x / 4 * 4 < y, "x < y"},
      {s < s, "false"},
      {ir::cast(Scalar::I64, ir::cast(Scalar::U8, s)) < 256, "true"},
  });
}

TEST_F(SimplifyTest, Logic) {
  const Expr yes = ir::int_imm(1, ir::kBool), no = ir::int_imm(0, ir::kBool);
  check({
      {b && yes, "b"},
      {no && b, "false"},
      {b || no, "b"},
      {b || yes, "true"},
      {b && b, "b"},
      {(b && x < 3) && b, "b && x < 3"},
      {x < 3 && x < 5, "x < 3"},
      {x < 3 || x < 5, "x < 5"},
      {x >= 3 && x < 3, "false"},
      {x >= 3 || x < 3, "true"},
      {x >= 3 && i < 100, "x >= 3"},
      {negate(negate(b)), "b"},
      {negate(x < y), "x >= y"},
      {negate(f < f), "not(f < f)"},
      {eq(b, yes), "b"},
      {eq(b, no), "not(b)"},
  });
}

TEST_F(SimplifyTest, Vectors) {
  const Expr r = ir::ramp(x, 1, 4), g = ir::load(Scalar::I64, 0, {r});
  const Expr vf = ir::load(Scalar::F32, 1, {r});
  check({
      {x4(x) + x4(y), "x4(x + y)"},
      {r + x4(c(3)), "ramp(x + 3, 1, 4)"},
      {r * x4(c(3)), "ramp(x * 3, 3, 4)"},
      {r - r, "x4(0)"},
      {r + ir::ramp(y, -1, 4), "x4(x + y)"},
      {ir::ramp(x * 4, 1, 4) / 4, "x4(x)"},
      {ir::ramp(x * 4, 1, 4) % 4, "ramp(0, 1, 4)"},
      {ir::ramp(x * 8, 2, 4) / 2, "ramp(x * 4, 1, 4)"},
      {ir::ramp(i, 1, 4) < 103, "x4(true)"},
      {ir::ramp(i, 1, 4) < 102, "ramp(i, 1, 4) < x4(102)"},
      {x4(x) < x4(y), "x4(x < y)"},
      {ir::min(x4(x), x4(y)), "x4(min(x, y))"},
      {g + r - g, "ramp(x, 1, 4)"},
      {r + g * 2, "b0[ramp(x, 1, 4)] * x4(2) + ramp(x, 1, 4)"},
      {r - g, "ramp(x, 1, 4) - b0[ramp(x, 1, 4)]"},
      {ir::load(Scalar::F32, 0, {x4(x)}), "x4(b0[x])"},
      {ir::select(x4(b), x4(x), x4(y)), "x4(select(b, x, y))"},
      {ir::select(x4(b), r, x4(y)), "select(x4(b), ramp(x, 1, 4), x4(y))"},
      {x4(b) && x4(x < 3), "x4(b && x < 3)"},
      {x4(f) * x4(f), "x4(f * f)"},
      {vf * x4(ir::float_imm(1, ir::kF32)), "b1[ramp(x, 1, 4)]"},
      {ir::fma(x4(f), x4(f), x4(f)), "x4(fma(f, f, f))"},
      {ir::exp(x4(f)), "x4(exp(f))"},
      {ir::cast(Scalar::F64, x4(f)), "x4(f64(f))"},
      {ir::vector_reduce(BinaryOp::Max, x4(x)), "x"},
      {ir::vector_reduce(BinaryOp::Add, x4(x)), "reduce(+, x4(x))"},
  });
}

TEST_F(SimplifyTest, FloatsKeepTheirBits) {
  const auto l = [](double value) { return ir::float_imm(value, ir::kF32); };
  check({
      {f * l(1), "f"},
      {l(1) * f, "f"},
      {f / l(1), "f"},
      {f + l(-0.0), "f"},
      {f - l(0), "f"},
      {f + l(0), "f + 0.0"},
      {f - f, "f - f"},
      {f * l(0), "f * 0.0"},
      {ir::min(f, f), "f"},
      {f < f, "f < f"},
      {op(BinaryOp::Eq, f, f), "f == f"},
  });
}

TEST_F(SimplifyTest, NarrowIntegersWrap) {
  const auto l = [](int64_t value) { return ir::int_imm(value, kI32); };
  check({
      {s + l(0), "s"},
      {l(3) + s, "s + i32(3)"},
      {s - s, "i32(0)"},
      {s * l(0), "i32(0)"},
      {s * l(2) / l(2), "s * i32(2) / i32(2)"},
      {s + l(1) < s, "s + i32(1) < s"},
      {s % l(1), "i32(0)"},
  });
}

TEST_F(SimplifyTest, NothingThatMayOverflowIsRewritten) {
  const Expr h = ir::var("h");
  const Bounds huge = {{id(h), {0, INT64_MAX / 2}}};
  for (const Expr& expr : {h * 4 / 4, h * 4 % 8, h * 3 < h * 2, ir::min(h * 3, h)}) {
    EXPECT_TRUE(simplify(expr, huge).same_as(expr)) << ir::to_string(simplify(expr, huge));
  }
}

class SimplifyStmtTest : public SimplifyTest {
 protected:
  static Stmt store(const Expr& index) {
    return ir::make_store(0, {index}, ir::float_imm(1, ir::kF32));
  }
  static Stmt loop(const Expr& v, int64_t extent, const Stmt& body) {
    return ir::make_for(v, ir::int_imm(extent), ForKind::Serial, body);
  }
  static void check_stmt(const Stmt& stmt, const char* text) {
    const Stmt once = simplify(stmt);
    EXPECT_EQ(ir::to_string(once), text) << "from\n" << ir::to_string(stmt);
    EXPECT_TRUE(simplify(once).same_as(once));
  }
};

TEST_F(SimplifyStmtTest, Loops) {
  check_stmt(loop(x, 1, store(x + 3)), "b0[3] = 1.0\n");
  check_stmt(loop(x, 0, store(x + 3)), "pass\n");
  check_stmt(loop(x, 8, store((y * 8 + x) / 8)), "for x < 8:\n  b0[y] = 1.0\n");
  check_stmt(ir::make_for(x, ir::min(c(4), c(6) + y - y), ForKind::Parallel, store(x)),
             "parallel for x < 4:\n  b0[x] = 1.0\n");
  check_stmt(ir::make_for(x, n, ForKind::Serial, ir::make_if(x >= 0, store(x))),
             "for x < n:\n  b0[x] = 1.0\n");
}

TEST_F(SimplifyStmtTest, Ifs) {
  const Stmt yes = store(x), no = store(x + 1);
  check_stmt(loop(x, 8, ir::make_if(x < 8, yes, no)), "for x < 8:\n  b0[x] = 1.0\n");
  check_stmt(loop(x, 8, ir::make_if(x >= 8, yes)), "pass\n");
  check_stmt(loop(x, 8, ir::make_if(x < 4, store(x / 4), store(x / 4))),
             "for x < 8:\n  if x < 4:\n    b0[0] = 1.0\n  else:\n    b0[1] = 1.0\n");
  check_stmt(ir::make_if(x >= 2 && x < 4, store(x / 2)), "if x >= 2 && x < 4:\n  b0[1] = 1.0\n");
  check_stmt(ir::make_if(x < 2, loop(y, 0, yes), no), "if x >= 2:\n  b0[x + 1] = 1.0\n");
  check_stmt(ir::make_if(eq(x, c(5)), store(x)), "if x == 5:\n  b0[5] = 1.0\n");
  // The bounds of a condition end with it.
  check_stmt(ir::make_block({ir::make_if(x < 4, yes), ir::make_if(x < 5, no)}),
             "if x < 4:\n  b0[x] = 1.0\nif x < 5:\n  b0[x + 1] = 1.0\n");
}

TEST_F(SimplifyStmtTest, Lets) {
  check_stmt(ir::make_let(x, c(3), store(x * 2)), "b0[6] = 1.0\n");
  check_stmt(ir::make_let(x, y, store(x - y)), "b0[0] = 1.0\n");
  check_stmt(ir::make_let(x, y + 0, store(x - y)), "b0[0] = 1.0\n");
  check_stmt(ir::make_let(x, y % 4, store(x / 4)), "let x = y % 4\nb0[0] = 1.0\n");
  check_stmt(ir::make_let(f, ir::float_imm(2, ir::kF32), ir::make_store(0, {y}, f)),
             "b0[y] = 2.0\n");
}

}  // namespace
}  // namespace tilewright::arith
