#include "ir/equal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/print.h"

namespace tilewright::ir {
namespace {

Stmt loop(const Expr& i, const Stmt& body) {
  return make_for(i, int_imm(8), ForKind::Serial, body);
}
Stmt store(const Expr& index) { return make_store(0, {index}, float_imm(0, kF32)); }

TEST(EqualTest, Expressions) {
  const Expr i = var("i"), same_name = var("i"), f = var("f", kF32);
  const Expr sums = var("s", {Scalar::I32, 2}), bytes = var("b", {Scalar::I8, 8});
  const std::vector<Expr> all = {
      i,
      same_name,
      f,
      i + 1,
      i - 1,
      i + 2,
      int_imm(1) + i,
      int_imm(1),
      int_imm(1, Type{Scalar::I32, 1}),
      float_imm(0.0, kF32),
      float_imm(-0.0, kF32),
      float_imm(NAN, kF32),
      cast(Scalar::F32, i),
      cast(Scalar::F64, i),
      select(i < 3, i, same_name),
      select(i < 3, same_name, i),
      fma(f, f, f),
      exp(f),
      call(Intrinsic::Log, {f}),
      load(Scalar::F32, 0, {i}),
      load(Scalar::F32, 1, {i}),
      load(Scalar::F32, 0, {i, i}),
      ramp(i, 1, 4),
      ramp(i, 2, 4),
      ramp(i, 1, 8),
      broadcast(i, 4),
      vector_reduce(BinaryOp::Add, broadcast(i, 4)),
      vector_reduce(BinaryOp::Mul, broadcast(i, 4)),
      dot(sums, load(Scalar::U8, 0, {ramp(i, 1, 4)}), bytes),
      dot(sums, load(Scalar::U8, 1, {ramp(i, 1, 4)}), bytes),
      dot(sums, load(Scalar::U8, 1, {ramp(i, 1, 4)}), bytes, 1, {}, DotRounding::DescendingFlushed),
  };
  const auto hash = [&](const Expr& expr) {
    Hasher hasher;
    hash_into(hasher, expr, [&](VarId id) -> uint64_t { return id == i.as<Var>()->id ? 0 : id; });
    return hasher.finish();
  };
  for (size_t a = 0; a < all.size(); ++a) {
    for (size_t b = 0; b < all.size(); ++b) {
      EXPECT_EQ(equal(all[a], all[b]), a == b) << to_string(all[a]) << " " << to_string(all[b]);
      EXPECT_EQ(hash(all[a]) == hash(all[b]), a == b);
    }
  }
  EXPECT_TRUE(equal(i * 4 + 1, i * 4 + 1));
  EXPECT_TRUE(equal(Expr{}, Expr{}));
  EXPECT_FALSE(equal(i, Expr{}));
}

TEST(EqualTest, BoundVariablesAreEqualByBinder) {
  const Expr i = var("i"), j = var("j"), x = var("x"), y = var("y"), n = var("n");
  const Stmt ij = loop(i, loop(j, store(i * 8 + j)));
  const Stmt xy = loop(x, loop(y, store(x * 8 + y)));
  const Stmt transposed = loop(x, loop(y, store(y * 8 + x)));
  EXPECT_TRUE(equal(ij, xy));
  EXPECT_FALSE(equal(ij, transposed));
  // The same body means another thing under swapped binders.
  const Stmt body = store(i * 8 + j);
  EXPECT_FALSE(equal(loop(i, loop(j, body)), loop(j, loop(i, body))));
  // A free variable is equal to itself only, also when bound on the other side.
  EXPECT_FALSE(equal(loop(i, store(i)), loop(i, store(n))));
  EXPECT_FALSE(equal(loop(i, store(n)), loop(n, store(n))));
  EXPECT_TRUE(equal(loop(i, store(n)), loop(j, store(n))));
}

TEST(EqualTest, Statements) {
  const Expr i = var("i"), t = var("t"), b = var("b", kBool);
  const Stmt s = store(i);
  const std::vector<Stmt> all = {
      Stmt{},
      s,
      make_store(1, {i}, float_imm(0, kF32)),
      make_store(1, {i}, float_imm(0, kF32), b),
      make_store(1, {i}, float_imm(0, kF32), i < 3),
      make_store(1, {i}, float_imm(0, kF32), {}, /*stream=*/true),
      make_prefetch(1, {i}),
      make_prefetch(2, {i}),
      make_prefetch(1, {i + 1}),
      make_transpose({1, i, 16}, {2, i, 16}, 8),
      make_transpose({1, i, 16}, {2, i, 16}, 16),
      make_transpose({1, i, 16}, {2, i, 32}, 8),
      make_transpose({1, i, 32}, {2, i, 16}, 8),
      make_transpose({2, i, 16}, {1, i, 16}, 8),
      make_transpose({1, i + 1, 16}, {2, i, 16}, 8),
      make_transpose({1, i, 16}, {2, i + 1, 16}, 8),
      loop(i, s),
      make_for(i, int_imm(8), ForKind::Parallel, s),
      make_for(i, int_imm(9), ForKind::Serial, s),
      make_for(i, int_imm(8), ForKind::Tensorized, s, Name("dot")),
      make_for(i, int_imm(8), ForKind::Tensorized, s, Name("tile")),
      make_bound_for(i, int_imm(8), ThreadAxis::BlockX, s),
      make_bound_for(i, int_imm(8), ThreadAxis::ThreadX, s),
      make_if(b, s),
      make_if(b, s, s),
      make_let(t, i, s),
      make_let(t, i + 1, s),
      make_allocate(1, s),
      make_allocate(2, s),
      make_block({s, s}),
      make_block({s, s, s}),
  };
  for (size_t a = 0; a < all.size(); ++a) {
    for (size_t c = 0; c < all.size(); ++c) {
      EXPECT_EQ(equal(all[a], all[c]), a == c) << to_string(all[a]) << to_string(all[c]);
    }
  }
}

TEST(EqualTest, TheValueOfALetIsOutsideItsScope) {
  const Expr t = var("t"), u = var("u");
  EXPECT_TRUE(equal(make_let(t, u, store(t)), make_let(t, u, store(t))));
  EXPECT_FALSE(equal(make_let(t, u, store(t)), make_let(u, t, store(u))));
}

}  // namespace
}  // namespace tilewright::ir
