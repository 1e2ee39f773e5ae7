#include "ir/verify.h"

#include <gtest/gtest.h>

namespace tilewright::ir {
namespace {

constexpr BufferId kIn = 0, kOut = 1, kTemp = 2, kReg = 3;
constexpr Type kVec{Scalar::F32, 8};

Function with_body(Stmt body) {
  return {
      .name = "f",
      .buffers = {{.name = "in", .element = kF32, .shape = {8, 8}},
                  {.name = "out", .element = kF32, .shape = {64}},
                  {.name = "temp", .element = kF32, .shape = {64}, .scope = Scope::Stack},
                  {.name = "acc", .element = kVec, .shape = {1}, .scope = Scope::Register}},
      .arguments = {kIn, kOut},
      .argument_written = {false, true},
      .body = std::move(body),
  };
}

Expr zero() { return int_imm(0); }
Expr one() { return float_imm(1, kF32); }
Stmt out(const Expr& index, const Expr& value) { return make_store(kOut, {index}, value); }
Stmt loop(const Expr& i, Stmt body, ForKind kind = ForKind::Serial) {
  return make_for(i, int_imm(8), kind, std::move(body));
}
Stmt bound(const Expr& i, ThreadAxis axis, Stmt body) {
  return make_bound_for(i, int_imm(8), axis, std::move(body));
}

TEST(VerifyTest, AcceptsValidIr) {
  const Expr i = var("i"), j = var("j"), t = var("t");
  const Expr value = load(Scalar::F32, kIn, {i, j});
  EXPECT_TRUE(verify(with_body({})));
  EXPECT_TRUE(verify(with_body(loop(i, loop(j, out(i * 8 + j, value)), ForKind::Parallel))));
  // One variable may be bound in two places, one after the other.
  const Stmt once = loop(i, out(i, one()));
  EXPECT_TRUE(verify(with_body(make_block({once, once}))));
  EXPECT_TRUE(verify(with_body(loop(i, make_let(t, i * 2, out(t, one()))))));
  const Stmt vector = out(ramp(zero(), 1, 8), load(kVec, kReg, {zero()}));
  const Stmt fill = make_store(kReg, {zero()}, broadcast(one(), 8));
  EXPECT_TRUE(verify(with_body(make_allocate(kReg, make_block({fill, vector})))));
  EXPECT_TRUE(verify(with_body(loop(i, make_store(kOut, {i}, one(), i < 3, /*stream=*/true)))));
  EXPECT_TRUE(verify(with_body(loop(i, make_prefetch(kIn, {i + 1, zero()})))));
  const Stmt square = make_transpose({kTemp, i, 8}, {kOut, zero(), 8}, 8);
  EXPECT_TRUE(verify(with_body(make_allocate(kTemp, loop(i, square)))));
  using enum ThreadAxis;
  const Stmt threads = bound(j, ThreadX, out(i * 8 + j, one()));
  EXPECT_TRUE(verify(with_body(bound(i, BlockX, make_block({threads, threads})))));
  EXPECT_TRUE(
      verify(with_body(bound(i, VirtualThread, bound(j, VirtualThread, out(i * 8 + j, one()))))));
}

TEST(VerifyTest, ReportsErrors) {
  const Expr i = var("i"), j = var("j");
  const Stmt fine = out(zero(), one());
  const Expr bad_sum{new Binary(kIndex, BinaryOp::Add, zero(), one())};
  struct Case {
    Stmt body;
    const char* message;
  };
  const Case cases[] = {
      {out(i, one()), "variable `i` is not bound here; at `out[i] = 1.0`"},
      {loop(i, loop(i, fine)), "variable `i` is bound already; at `for i < 8:`"},
      {make_block({loop(i, fine), out(i, one())}), "variable `i` is not bound here"},
      {make_let(i, i, fine), "variable `i` is not bound here"},
      {loop(i, loop(j, fine, ForKind::Parallel), ForKind::Parallel), "inside a Parallel"},
      {out(zero(), load(Scalar::F32, kIn, {zero()})), "`in` has 2 dimensions, not 1"},
      {out(zero(), load(Scalar::F32, kTemp, {zero()})), "`temp` is accessed outside"},
      {make_block({make_allocate(kTemp, fine), make_store(kTemp, {zero()}, one())}),
       "`temp` is accessed outside"},
      {make_allocate(kTemp, make_allocate(kTemp, fine)), "inside its own Allocate"},
      {make_allocate(kOut, fine), "argument `out` is allocated"},
      {make_allocate(9, fine), "allocation of b9"},
      {make_store(9, {zero()}, one()), "access to b9"},
      {make_store(kIn, {zero(), zero()}, one()), "store to `in`, which is an input"},
      {out(zero(), float_imm(1, Type{Scalar::F64, 1})), "`out` of f32 is accessed as f64"},
      {out(zero(), broadcast(one(), 8)), "`out` is accessed as f32x8 with an index of i64"},
      {make_allocate(kReg, make_store(kReg, {int_imm(1)}, broadcast(one(), 8))),
       "register `acc` is not accessed at index 0"},
      {make_allocate(kReg, make_store(kReg, {zero()}, one())), "register `acc` of f32x8"},
      {out(bad_sum, one()), "operands differ in type in `0 + 1.0`"},
      {Stmt(new Block({fine})), "a Block of fewer than two statements"},
      {Stmt(new Block({fine, make_block({fine, fine})})), "a Block inside a Block"},
      {Stmt(new Block({fine, Stmt{}})), "a null statement"},
      {Stmt(new If(i, fine, {})), "variable `i` is not bound here"},
      {loop(i, Stmt(new If(i, fine, {}))), "the condition is not a scalar Bool"},
      {Stmt(new For(zero(), zero(), ForKind::Serial, Name(), ThreadAxis::None, fine)),
       "loop variable is not an I64 Var"},
      {Stmt(new For(i, one(), ForKind::Serial, Name(), ThreadAxis::None, fine)),
       "the extent is not I64"},
      {Stmt(new For(i, zero(), ForKind::Bound, Name(), ThreadAxis::None, fine)), "has an axis"},
      {Stmt(new For(i, zero(), ForKind::Serial, Name(), ThreadAxis::BlockX, fine)), "has an axis"},
      {bound(i, ThreadAxis::ThreadX, bound(j, ThreadAxis::ThreadX, fine)),
       "a loop of thread_x inside another; at `thread_x for j < 8:`"},
      {bound(i, ThreadAxis::ThreadX, bound(j, ThreadAxis::BlockX, fine)),
       "a loop of block_x inside a loop of threads; at `block_x for j < 8:`"},
      {bound(i, ThreadAxis::BlockX, loop(j, fine, ForKind::Parallel)),
       "a Parallel loop inside a Bound loop"},
      {loop(i, bound(j, ThreadAxis::BlockX, fine), ForKind::Parallel),
       "a Bound loop inside a Parallel loop"},
      {Stmt(new Let(i, one(), fine)), "another type than its value"},
      {make_store(kOut, {zero()}, one(), i < 3), "variable `i` is not bound here"},
      {Stmt(new Store(kOut, {zero()}, one(), zero(), false)), "the predicate is not a Bool"},
      {Stmt(new Store(kOut, {ramp(zero(), 1, 8)}, broadcast(one(), 8), int_imm(0, kBool), false)),
       "the predicate is not a Bool of the value's lanes"},
      {make_prefetch(9, {zero()}), "prefetch of b9"},
      {make_prefetch(kIn, {zero()}), "`in` has 2 dimensions, not 1"},
      {make_prefetch(kTemp, {zero()}), "`temp` is accessed outside"},
      {make_prefetch(kOut, {i}), "variable `i` is not bound here"},
      {make_allocate(kReg, make_prefetch(kReg, {zero()})), "prefetch of register `acc`"},
      {make_transpose({9, zero(), 8}, {kOut, zero(), 8}, 8), "transpose of b9"},
      {make_transpose({kOut, zero(), 8}, {kIn, zero(), 8}, 8), "`in` has 2 dimensions, not 1"},
      {make_transpose({kOut, zero(), 8}, {kTemp, zero(), 8}, 8), "`temp` is accessed outside"},
      {make_transpose({kOut, i, 8}, {kTemp, zero(), 8}, 8), "variable `i` is not bound here"},
      {make_transpose({kOut, zero(), 8}, {kOut, zero(), 8}, 8), "`out` is transposed into itself"},
      {make_allocate(kReg, make_transpose({kReg, zero(), 8}, {kOut, zero(), 8}, 8)),
       "transpose of register `acc`"},
  };
  for (const Case& c : cases) {
    const Status status = verify(with_body(c.body));
    ASSERT_FALSE(status) << c.message;
    EXPECT_NE(status.error().message.find(c.message), std::string::npos)
        << status.error().message << " should say " << c.message;
  }
}

TEST(VerifyTest, SharedExpressionsAreVisitedOnce) {
  const Expr i = var("i");
  Expr deep = cast(Scalar::F32, i), unbound = cast(Scalar::F32, var("j"));
  for (int k = 0; k < 60; ++k) {
    deep = fma(deep, deep, deep);
    unbound = fma(deep, unbound, unbound);
  }
  EXPECT_TRUE(verify(with_body(loop(i, out(i, deep)))));
  // A valid variable of one scope is not valid in another.
  EXPECT_FALSE(verify(with_body(make_block({loop(i, out(i, deep)), out(zero(), deep)}))));
  const Status status = verify(with_body(loop(i, out(i, unbound))));
  ASSERT_FALSE(status);
  EXPECT_LT(status.error().message.size(), 1000u);
}

TEST(VerifyTest, ChecksTheTableOfBuffers) {
  Function twice = with_body({});
  twice.arguments = {kIn, kIn};
  EXPECT_FALSE(verify(twice));
  Function stack_argument = with_body({});
  stack_argument.arguments = {kIn, kTemp};
  EXPECT_FALSE(verify(stack_argument));
  Function not_parallel = with_body({});
  not_parallel.argument_written = {true};
  EXPECT_FALSE(verify(not_parallel));
  Function vector_memory = with_body({});
  vector_memory.buffers[kTemp].element = kVec;
  EXPECT_FALSE(verify(vector_memory));
}

}  // namespace
}  // namespace tilewright::ir
