#include "ir/visit.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace tilewright::ir {
namespace {

// One expression of each kind, over one I64 variable.
std::vector<Expr> one_of_each(const Expr& i) {
  const Expr f = cast(Scalar::F32, i);
  const Expr r = ramp(i, 2, 4);
  return {
      i + 1,
      f,
      fma(f, f, f),
      select(i < 3, i, i * 2),
      call(Intrinsic::Pow, {f, f}),
      bitcast(Scalar::I32, f),
      load(Scalar::F32, 1, {i, i + 1}),
      load(kF32.with_lanes(8), 1, {i - i}),
      r,
      broadcast(i, 4),
      vector_reduce(BinaryOp::Max, r),
      dot(load(Scalar::I32, 0, {ramp(i, 1, 2)}), load(Scalar::U8, 1, {ramp(i, 1, 4)}),
          load(Scalar::I8, 2, {ramp(i, 1, 8)})),
  };
}

TEST(RewriterTest, UnchangedTreesAreShared) {
  const Expr i = var("i");
  Rewriter rewriter;
  for (const Expr& expr : one_of_each(i)) {
    EXPECT_TRUE(rewriter.rewrite(expr).same_as(expr)) << to_string(expr);
    EXPECT_TRUE(substitute(expr, {{var("j").as<Var>()->id, i}}).same_as(expr));
    EXPECT_TRUE(substitute(expr, {}).same_as(expr));
  }
}

TEST(RewriterTest, SubstituteReachesEveryKind) {
  const Expr i = var("i"), j = var("j");
  const VarId id = i.as<Var>()->id;
  const std::vector<Expr> before = one_of_each(i), after = one_of_each(j);
  for (size_t k = 0; k < before.size(); ++k) {
    EXPECT_TRUE(uses_var(before[k], id));
    const Expr result = substitute(before[k], {{id, j}});
    EXPECT_EQ(to_string(result), to_string(after[k]));
    EXPECT_EQ(result.type(), after[k].type());
    EXPECT_FALSE(uses_var(result, id));
  }
}

TEST(RewriterTest, SubstituteFoldsAndVectorizes) {
  const Expr i = var("i");
  const VarId id = i.as<Var>()->id;
  EXPECT_EQ(to_string(substitute((i + 1) * 2, {{id, int_imm(3)}})), "8");
  const Expr vector = substitute(load(Scalar::F32, 0, {i}), {{id, ramp(var("j"), 1, 8)}});
  EXPECT_EQ(vector.type(), kF32.with_lanes(8));
}

Stmt nest(const Expr& i, const Expr& n) {
  const Expr t = var("t");
  Stmt store = make_block({make_prefetch(0, {n}),
                           make_store(0, {i + t}, cast(Scalar::F32, n), t < n, /*stream=*/true)});
  Stmt branch = make_if(i < n, store, make_store(0, {n}, float_imm(0, kF32)));
  Stmt body = make_block({make_let(t, n * 2, branch), make_store(0, {i}, float_imm(2, kF32)),
                          make_transpose({0, i, 8}, {2, n, 8}, 8)});
  return make_allocate(1, make_for(i, n, ForKind::Serial, body));
}

TEST(RewriterTest, StatementsAreRewrittenButNotTheirBinders) {
  const Expr i = var("i"), n = var("n"), m = var("m");
  const Stmt before = nest(i, n);
  EXPECT_TRUE(Rewriter().rewrite(before).same_as(before));
  const Stmt after = substitute(before, {{n.as<Var>()->id, m}});
  EXPECT_EQ(to_string(after), to_string(nest(i, m)));
  EXPECT_TRUE(uses_var(before, n.as<Var>()->id));
  EXPECT_FALSE(uses_var(after, n.as<Var>()->id));
}

TEST(RewriterTest, LoopsKeepTheirKind) {
  const Expr i = var("i"), n = var("n"), m = var("m");
  const Stmt store = make_store(0, {i + n}, float_imm(0, kF32));
  for (const Stmt& loop : {make_for(i, int_imm(8), ForKind::Parallel, store),
                           make_for(i, int_imm(8), ForKind::Tensorized, store, Name("dot")),
                           make_bound_for(i, int_imm(8), ThreadAxis::ThreadZ, store)}) {
    const auto* before = loop.as<For>();
    const Stmt rewritten = substitute(loop, {{n.as<Var>()->id, m}});
    const auto* after = rewritten.as<For>();
    ASSERT_NE(after, before);
    EXPECT_EQ(after->loop_kind, before->loop_kind);
    EXPECT_EQ(after->intrinsic, before->intrinsic);
    EXPECT_EQ(after->axis, before->axis);
  }
}

class LeafRemover : public Rewriter {
 public:
  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const bool leaf = stmt.kind() == StmtKind::Store || stmt.kind() == StmtKind::Prefetch ||
                      stmt.kind() == StmtKind::Transpose;
    return leaf ? Stmt{} : rewrite_children(stmt);
  }
};

TEST(RewriterTest, EmptyStatementsAreDropped) {
  EXPECT_FALSE(LeafRemover().rewrite(nest(var("i"), var("n"))).defined());
}

class Counter : public Visitor {
 public:
  int exprs = 0, stmts = 0;
  void visit(const Expr& expr) override {
    ++exprs;
    Visitor::visit(expr);
  }
  void visit(const Stmt& stmt) override {
    ++stmts;
    Visitor::visit(stmt);
  }
};

TEST(VisitorTest, VisitsEveryNode) {
  Counter counter;
  counter.visit(nest(var("i"), var("n")));
  // allocate, for, two blocks, let, if, prefetch, three stores, transpose
  EXPECT_EQ(counter.stmts, 11);
  EXPECT_EQ(counter.exprs, 1 + 3 + 3 + 1 + (3 + 2 + 3) + (1 + 1) + (1 + 1) + 2);
}

}  // namespace
}  // namespace tilewright::ir
