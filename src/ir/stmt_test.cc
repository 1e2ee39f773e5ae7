#include "ir/stmt.h"

#include <gtest/gtest.h>

namespace tilewright::ir {
namespace {

Stmt store_at(const Expr& index) { return make_store(0, {index}, float_imm(1, kF32)); }

TEST(StmtTest, MakersCheckTypes) {
  const Expr i = var("i"), f = var("f", kF32), n = var("n", Type{Scalar::I32, 1});
  const Stmt store = store_at(i);
  EXPECT_THROW(make_for(int_imm(1), i, ForKind::Serial, store), InternalError);
  EXPECT_THROW(make_for(n, i, ForKind::Serial, store), InternalError);
  EXPECT_THROW(make_for(i, n, ForKind::Serial, store), InternalError);
  EXPECT_THROW(make_for(i, i, ForKind::Serial, {}), InternalError);
  EXPECT_THROW(make_for(i, i, ForKind::Bound, store), InternalError);
  EXPECT_THROW(make_bound_for(i, i, ThreadAxis::None, store), InternalError);
  EXPECT_THROW(make_if(i, store), InternalError);
  EXPECT_THROW(make_let(f, i, store), InternalError);
  EXPECT_THROW(make_let(i + 1, i, store), InternalError);
  EXPECT_THROW(make_store(0, {f}, f), InternalError);
  EXPECT_THROW(make_store(0, {ramp(i, 1, 4)}, f), InternalError);
  EXPECT_THROW(make_store(0, {i, ramp(i, 1, 4)}, broadcast(f, 4)), InternalError);
  EXPECT_THROW(make_store(0, {i}, f, i), InternalError);
  EXPECT_THROW(make_store(0, {ramp(i, 1, 4)}, broadcast(f, 4), i < 3), InternalError);
  EXPECT_THROW(make_prefetch(0, {f}), InternalError);
  EXPECT_THROW(make_prefetch(0, {ramp(i, 1, 4)}), InternalError);
  EXPECT_THROW(make_transpose({0, f, 8}, {1, i, 8}, 8), InternalError);
  EXPECT_THROW(make_transpose({0, i, 8}, {1, ramp(i, 1, 8), 8}, 8), InternalError);
  EXPECT_THROW(make_transpose({0, i, 12}, {1, i, 12}, 12), InternalError);
  EXPECT_THROW(make_transpose({0, i, 2}, {1, i, 2}, 2), InternalError);
  EXPECT_THROW(make_transpose({0, i, 7}, {1, i, 8}, 8), InternalError);
  EXPECT_THROW(make_allocate(0, {}), InternalError);
}

TEST(StmtTest, TruePredicatesAreDropped) {
  const Expr i = var("i"), f = float_imm(1, kF32);
  const Type mask = kBool.with_lanes(4);
  const Stmt always =
      make_store(0, {ramp(i, 1, 4)}, broadcast(f, 4), int_imm(1, mask), /*stream=*/true);
  EXPECT_FALSE(always.as<Store>()->predicate.defined());
  EXPECT_TRUE(always.as<Store>()->stream);
  EXPECT_TRUE(make_store(0, {i}, f, int_imm(0, kBool)).as<Store>()->predicate.defined());
  EXPECT_TRUE(make_store(0, {i}, f, i < 3).as<Store>()->predicate.defined());
}

TEST(StmtTest, BlocksAreFlat) {
  const Stmt a = store_at(int_imm(0)), b = store_at(int_imm(1)), c = store_at(int_imm(2));
  EXPECT_FALSE(make_block({}).defined());
  EXPECT_FALSE(make_block({Stmt{}, Stmt{}}).defined());
  EXPECT_TRUE(make_block({Stmt{}, a}).same_as(a));
  const Stmt block = make_block({make_block({a, b}), Stmt{}, c});
  ASSERT_NE(block.as<Block>(), nullptr);
  ASSERT_EQ(block.as<Block>()->stmts.size(), 3u);
  EXPECT_TRUE(block.as<Block>()->stmts[2].same_as(c));
}

TEST(StmtTest, DeepTreesAreFreedWithoutRecursion) {
  Stmt loops = store_at(int_imm(0));
  for (int k = 0; k < 200000; ++k) {
    loops = make_for(var("i"), int_imm(2), ForKind::Serial, std::move(loops));
  }
  Stmt branches = store_at(int_imm(0));
  const Expr condition = var("c", kBool);
  for (int k = 0; k < 200000; ++k) branches = make_if(condition, store_at(int_imm(k)), branches);
}

TEST(BufferTest, Elements) {
  EXPECT_EQ((Buffer{.name = "a", .element = kF32, .shape = {3, 4}}).elements(), 12);
  EXPECT_EQ((Buffer{.name = "a", .element = kF32, .shape = {}}).elements(), 1);
}

}  // namespace
}  // namespace tilewright::ir
