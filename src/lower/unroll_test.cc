#include "lower/unroll.h"

#include "lower/pass_test.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::ForKind;

TEST(Unroll, CopiesWithNumbersInTheConstants) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), c = kernel.argument("C", {64});
  const Expr i = ir::var("i"), j = ir::var("j"), k = ir::var("k");
  const ir::Stmt store = ir::make_store(c, {k * 8 + i * 4 + j}, kernel.load(a, {i * 2 + j}));
  kernel.function.body =
      loop(k, 8, loop(i, 2, loop(j, 2, store, ForKind::Unrolled), ForKind::Unrolled));
  EXPECT_EQ(kernel.after(unroll),
            "for k < 8:\n"
            "  C[k * 8] = A[0]\n"
            "  C[k * 8 + 1] = A[1]\n"
            "  C[k * 8 + 4] = A[2]\n"
            "  C[k * 8 + 5] = A[3]\n");
  EXPECT_TRUE(kernel.unchanged_by(unroll));
}

TEST(Unroll, BoundVariablesAreNewInEachCopy) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), c = kernel.argument("C", {8});
  const auto t = kernel.local("t", {4});
  const Expr i = ir::var("i"), k = ir::var("k"), x = ir::var("x", ir::kF32);
  const ir::Stmt fill = loop(k, 4, ir::make_store(t, {k}, kernel.load(a, {i + k})));
  const ir::Stmt use = ir::make_let(x, kernel.load(t, {i}), ir::make_store(c, {i}, x + x));
  kernel.function.body =
      loop(i, 2, ir::make_allocate(t, ir::make_block({fill, use})), ForKind::Unrolled);
  EXPECT_EQ(kernel.after(unroll),
            "allocate t:\n"
            "  for k < 4:\n"
            "    t[k] = A[k]\n"
            "  let x = t[0]\n"
            "  C[0] = x + x\n"
            "allocate t\n"
            "for k < 4:\n"
            "  t[k] = A[k + 1]\n"
            "let x = t[1]\n"
            "C[1] = x + x\n");
  const auto& copies = kernel.function.body.as<ir::Block>()->stmts;
  const auto loop_of = [](const ir::Stmt& copy) {
    return copy.as<ir::Allocate>()->body.as<ir::Block>()->stmts[0].as<ir::For>();
  };
  EXPECT_NE(loop_of(copies[0])->var.as<ir::Var>()->id, loop_of(copies[1])->var.as<ir::Var>()->id);
}

TEST(Unroll, DecidesConditions) {
  Kernel kernel;
  const auto a = kernel.argument("A", {8}), c = kernel.argument("C", {8});
  const Expr i = ir::var("i"), k = ir::var("k");
  const Expr zero = ir::float_imm(0, ir::kF32);
  const ir::Stmt store = ir::make_store(c, {i}, ir::select(i < 1, zero, kernel.load(a, {i - 1})));
  const ir::Stmt inner = loop(k, 4, ir::make_if(i < 2, ir::make_if(k + i < 4, store)));
  kernel.function.body = loop(i, 3, inner, ForKind::Unrolled);
  EXPECT_EQ(kernel.after(unroll),
            "for k < 4:\n"
            "  if k < 4:\n"
            "    C[0] = 0.0\n"
            "for k < 4:\n"
            "  if k + 1 < 4:\n"
            "    C[1] = A[0]\n");
}

}  // namespace
}  // namespace tilewright::lower
