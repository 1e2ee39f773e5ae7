#include "ir/print.h"

#include <gtest/gtest.h>

namespace tilewright::ir {
namespace {

TEST(PrintTest, Expressions) {
  const Expr i = var("i.0"), j = var("j"), f = var("f", kF32), b = var("b", kBool);
  const Type i32{Scalar::I32, 1}, f64{Scalar::F64, 1};
  struct Case {
    Expr expr;
    const char* text;
  };
  const Case cases[] = {
      {i * 8 + j, "i.0 * 8 + j"},
      {i * (j + 8), "i.0 * (j + 8)"},
      {i - (j - 1), "i.0 - (j - 1)"},
      {i - j - 1, "i.0 - j - 1"},
      {i + (j + 1), "i.0 + (j + 1)"},
      {i / 4 % 2, "i.0 / 4 % 2"},
      {i * (j / 4), "i.0 * (j / 4)"},
      {(i < j) && (j >= 3), "i.0 < j && j >= 3"},
      {b && (b || b), "b && (b || b)"},
      {b || (b && b), "b || b && b"},
      {binary(BinaryOp::Eq, i < j, b), "(i.0 < j) == b"},
      {binary(BinaryOp::BitAnd, i + 1, j), "i.0 + 1 & j"},
      {binary(BinaryOp::BitOr, binary(BinaryOp::BitAnd, i, j), j), "(i.0 & j) | j"},
      {min(i, j) * 2, "min(i.0, j) * 2"},
      {select(b, f, float_imm(0, kF32)), "select(b, f, 0.0)"},
      {fma(f, f, float_imm(1.5, kF32)), "fma(f, f, 1.5)"},
      {float_imm(1e-20, kF32), "1e-20"},
      {float_imm(0.1, f64), "f64(0.1)"},
      {int_imm(-5, i32), "i32(-5)"},
      {cast(Scalar::F32, i), "f32(i.0)"},
      {cast(Scalar::F16, broadcast(f, 8)), "f16x8(x8(f))"},
      {exp(f), "exp(f)"},
      {call(Intrinsic::Ldexp, {f, f}), "ldexp(f, f)"},
      {bitcast(Scalar::I32, f), "bitcast(i32, f)"},
      {load(Scalar::F32, 2, {i, j + 1}), "b2[i.0, j + 1]"},
      {load(Scalar::F32, 2, {ramp(i * 16, 1, 16)}), "b2[ramp(i.0 * 16, 1, 16)]"},
      {broadcast(f, 16), "x16(f)"},
      {vector_reduce(BinaryOp::Add, broadcast(f, 16)), "reduce(+, x16(f))"},
      {dot(var("s", {Scalar::F32, 2}), var("a", {Scalar::BF16, 2}), var("b", {Scalar::BF16, 4})),
       "dot(s, a, b)"},
      {kBool == b.type() ? i < 0 : b, "i.0 < 0"},
      {Expr{}, "null"},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(c.expr), c.text);
  EXPECT_EQ(to_string(load(Scalar::F32, 0, {i}), [](BufferId) { return "A"; }), "A[i.0]");
}

// A value used twice on each of 60 levels has 2^60 leaves as a tree.
TEST(PrintTest, BriefIsTruncated) {
  Expr x = var("x", kF32);
  for (int k = 0; k < 60; ++k) x = x + x;
  EXPECT_EQ(brief(x).size(), 503u);
  const Stmt store = make_store(0, {int_imm(0)}, x);
  EXPECT_EQ(brief(store).substr(0, 8), "b0[0] = ");
  EXPECT_EQ(brief(store).substr(500), "...");
  EXPECT_EQ(brief(make_if(var("c", kBool), store)), "if c:");
  EXPECT_EQ(brief(var("i") * 2), "i * 2");
  EXPECT_EQ(brief(Expr{}), "null");
}

TEST(PrintTest, Function) {
  const Expr i = var("i"), k = var("k"), t = var("t"), lane = var("lane");
  const auto f = [](double value) { return float_imm(value, kF32); };
  const Stmt update = make_store(2, {int_imm(0)},
                                 fma(load(Scalar::F32, 0, {i, k}), load(Scalar::F32, 0, {k, i}),
                                     load(Scalar::F32, 2, {int_imm(0)})));
  const Stmt tail = make_if(i < 7, make_store(1, {i, t}, load(Scalar::F32, 2, {int_imm(0)})),
                            make_store(1, {i, int_imm(0)}, f(0)));
  const Stmt body = make_allocate(
      2,
      make_block({make_store(2, {int_imm(0)}, f(0)),
                  make_for(k, int_imm(16), ForKind::Unrolled, update), make_let(t, i * 2, tail)}));
  const Stmt scoped = make_let(t, i * 3, make_store(1, {t, t}, f(1)));
  Function function{
      .name = "gemm",
      .buffers = {{.name = "A", .element = kF32, .shape = {8, 16}},
                  {.name = "C", .element = kF32, .shape = {8, 8}},
                  {.name = "acc", .element = kF32, .shape = {1}, .scope = Scope::Register}},
      .arguments = {0, 1},
      .argument_written = {false, true},
      .body = make_for(i, int_imm(8), ForKind::Parallel,
                       make_block({scoped,
                                   make_for(lane, int_imm(4), ForKind::Vectorized,
                                            make_store(1, {i, lane}, f(2))),
                                   body})),
  };
  EXPECT_EQ(to_string(function), R"(gemm(A: f32[8, 16], out C: f32[8, 8]):
  parallel for i < 8:
    let t = i * 3:
      C[t, t] = 1.0
    vectorize for lane < 4:
      C[i, lane] = 2.0
    allocate acc: f32[1] in register
    acc[0] = 0.0
    unroll for k < 16:
      acc[0] = fma(A[i, k], A[k, i], acc[0])
    let t = i * 2
    if i < 7:
      C[i, t] = acc[0]
    else:
      C[i, 0] = 0.0
)");
  function.body = {};
  EXPECT_EQ(to_string(function), "gemm(A: f32[8, 16], out C: f32[8, 8]):\n  pass\n");
  EXPECT_EQ(to_string(make_allocate(2, update)),
            "allocate b2\nb2[0] = fma(b0[i, k], b0[k, i], b2[0])\n");
  EXPECT_EQ(to_string(Stmt{}), "pass\n");
  EXPECT_EQ(to_string(make_store(0, {i}, f(1), i < 3)), "b0[i] = 1.0 where i < 3\n");
  EXPECT_EQ(to_string(make_store(0, {i}, f(1), {}, /*stream=*/true)), "stream b0[i] = 1.0\n");
  EXPECT_EQ(to_string(make_prefetch(0, {i, k + 1})), "prefetch b0[i, k + 1]\n");
  EXPECT_EQ(to_string(make_bound_for(i, int_imm(8), ThreadAxis::BlockY, make_store(0, {i}, f(1)))),
            "block_y for i < 8:\n  b0[i] = 1.0\n");
  EXPECT_EQ(to_string(make_transpose({0, i, 32}, {1, k + 1, 100}, 8)),
            "transpose 8 x 8: b0[i] by 32 = b1[k + 1] by 100\n");
}

}  // namespace
}  // namespace tilewright::ir
