#include "lower/specialize.h"

#include <algorithm>

#include "ir/equal.h"
#include "lower/conditions.h"
#include "lower/stmt_copier.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

// The condition under the assumptions: x >= 1 is true and x < 0 is false if x >= 3.
Expr given(const std::vector<Expr>& facts, const Expr& condition) {
  for (const Expr& fact : facts) {
    const Expr both = arith::simplify(fact && condition);
    const int64_t* truth = ir::as_int(both);
    if (truth != nullptr && *truth == 0) return ir::int_imm(0, ir::kBool);
    if (ir::equal(both, fact)) return ir::int_imm(1, ir::kBool);
  }
  return condition;
}

class Specializer : public StmtCopier {
 public:
  explicit Specializer(const Assumptions& knowledge)
      : StmtCopier(knowledge.values),
        known_(knowledge.known),
        failed_(knowledge.failed),
        bounds_(knowledge.bounds) {}

  using StmtCopier::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    switch (stmt.kind()) {
      case ir::StmtKind::For:
        return rewrite_for(*stmt.as<ir::For>());
      case ir::StmtKind::Let:
        return rewrite_let(*stmt.as<ir::Let>());
      case ir::StmtKind::If:
        return rewrite_if(*stmt.as<ir::If>());
      default:
        return StmtCopier::rewrite(stmt);
    }
  }

 private:
  Stmt rewrite_for(const ir::For& loop) {
    Expr extent = rewrite(loop.extent);
    const Expr var = renamed(loop.var);
    if (const int64_t* trips = ir::as_int(extent); trips != nullptr && *trips > 0) {
      bounds_[var.as<ir::Var>()->id] = {0, *trips - 1};
    }
    Stmt body = rewrite(loop.body);
    if (!body.defined()) return {};
    return ir::make_for_like(loop, var, std::move(extent), std::move(body));
  }

  Stmt rewrite_let(const ir::Let& let) {
    Expr value = rewrite(let.value);
    const Expr var = renamed(let.var);
    if (value.type() == ir::kIndex) {
      const auto range = arith::interval_of(value, bounds_);
      if (range) bounds_[var.as<ir::Var>()->id] = *range;
    }
    Stmt body = rewrite(let.body);
    if (!body.defined()) return {};
    return ir::make_let(var, std::move(value), std::move(body));
  }

  Stmt rewrite_if(const ir::If& node) {
    const Expr condition = decided(node.condition);
    const int64_t* truth = ir::as_int(condition);
    Stmt then_body, else_body;
    if (truth == nullptr || *truth != 0) {
      then_body = rewrite_under(*this, condition, true, node.then_body, bounds_);
    }
    if (truth == nullptr || *truth == 0) {
      else_body = rewrite_under(*this, condition, false, node.else_body, bounds_);
    }
    if (truth != nullptr) return *truth != 0 ? then_body : else_body;
    return make_branch(condition, std::move(then_body), std::move(else_body));
  }

  // The conjuncts that are not known to hold; `false` where one is known to fail.
  Expr decided(const Expr& condition) override {
    if (condition.type().is_vector()) return rewrite(condition);
    std::vector<Expr> open;
    for (const Expr& conjunct : conjuncts_of(condition)) {
      Expr simple = given(known_, arith::simplify(rewrite(conjunct), bounds_));
      const int64_t* truth = ir::as_int(simple);
      if (truth != nullptr && *truth == 0) return simple;
      if (truth == nullptr) open.push_back(std::move(simple));
    }
    const auto is_open = [&](const Expr& one) { return holds(open, one); };
    if (!failed_.empty() && std::ranges::all_of(failed_, is_open)) return ir::int_imm(0, ir::kBool);
    return conjunction_of(open);
  }

  const std::vector<Expr>& known_;
  const std::vector<Expr>& failed_;
  arith::Bounds bounds_;
};

}  // namespace

Stmt specialize(const Stmt& stmt, const Assumptions& assumptions) {
  return Specializer(assumptions).rewrite(stmt);
}

Stmt rewrite_under(ir::Rewriter& rewriter, const Expr& condition, bool is_true, const Stmt& body,
                   arith::Bounds& bounds) {
  if (!body.defined()) return {};
  const arith::Bounds outer = bounds;
  assume(condition, is_true, bounds);
  Stmt result = rewriter.rewrite(body);
  bounds = outer;
  return result;
}

void assume(const Expr& condition, bool is_true, arith::Bounds& bounds) {
  const auto* node = condition.as<ir::Binary>();
  if (node == nullptr) return;
  if (node->op == (is_true ? BinaryOp::And : BinaryOp::Or)) {
    assume(node->a, is_true, bounds);
    return assume(node->b, is_true, bounds);
  }
  const auto* var = node->a.as<ir::Var>();
  const int64_t* limit = ir::as_int(node->b);
  if (var == nullptr || limit == nullptr ||
      (node->op != BinaryOp::Lt && node->op != BinaryOp::Ge)) {
    return;
  }
  const auto found = bounds.find(var->id);
  if (found == bounds.end()) return;
  arith::Interval& range = found->second;
  const bool below = (node->op == BinaryOp::Lt) == is_true;
  if (below ? *limit > range.high || *limit <= range.low
            : *limit <= range.low || *limit > range.high) {
    return;  // already decided
  }
  (below ? range.high : range.low) = below ? *limit - 1 : *limit;
}

}  // namespace tilewright::lower
