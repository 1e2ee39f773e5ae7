#include "lower/specialize.h"

#include <algorithm>

#include "ir/equal.h"
#include "lower/conditions.h"
#include "lower/linear_index.h"

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

class Specializer : public ir::Rewriter {
 public:
  explicit Specializer(const Assumptions& assumptions)
      : known_(assumptions.known),
        failed_(assumptions.failed),
        values_(assumptions.values),
        bounds_(assumptions.bounds) {}

  Expr rewrite(const Expr& expr) override {
    switch (expr.kind()) {
      case ir::ExprKind::Var: {
        const auto found = values_.find(expr.as<ir::Var>()->id);
        return found == values_.end() ? expr : found->second;
      }
      case ir::ExprKind::Load: {
        const auto* load = expr.as<ir::Load>();
        return ir::load(load->type, load->buffer, rewrite_indices(load->indices));
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        const Expr condition = decided(node->condition);
        if (const int64_t* truth = ir::as_int(condition)) {
          return rewrite(*truth != 0 ? node->if_true : node->if_false);
        }
        return ir::select(condition, rewrite(node->if_true), rewrite(node->if_false));
      }
      default:
        return rewrite_children(expr);
    }
  }

  Stmt rewrite(const Stmt& stmt) override {
    switch (stmt.kind()) {
      case ir::StmtKind::For:
        return rewrite_for(*stmt.as<ir::For>());
      case ir::StmtKind::Let:
        return rewrite_let(*stmt.as<ir::Let>());
      case ir::StmtKind::If:
        return rewrite_if(*stmt.as<ir::If>());
      case ir::StmtKind::Store: {
        const auto* store = stmt.as<ir::Store>();
        return ir::make_store(store->buffer, rewrite_indices(store->indices), rewrite(store->value),
                              rewrite_optional(store->predicate), store->stream);
      }
      case ir::StmtKind::Prefetch: {
        const auto* prefetch = stmt.as<ir::Prefetch>();
        return ir::make_prefetch(prefetch->buffer, rewrite_indices(prefetch->indices));
      }
      default:
        return rewrite_children(stmt);
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
    return ir::make_for(var, std::move(extent), loop.loop_kind, std::move(body));
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
    if (truth == nullptr || *truth != 0) then_body = rewrite_under(condition, true, node.then_body);
    if (truth == nullptr || *truth == 0) {
      else_body = rewrite_under(condition, false, node.else_body);
    }
    if (truth != nullptr) return *truth != 0 ? then_body : else_body;
    if (then_body.defined()) return ir::make_if(condition, then_body, else_body);
    if (!else_body.defined()) return {};
    return ir::make_if(ir::call(ir::Intrinsic::Not, {condition}), else_body);
  }

  Stmt rewrite_under(const Expr& condition, bool is_true, const Stmt& body) {
    if (!body.defined()) return {};
    const arith::Bounds outer = bounds_;
    assume(condition, is_true, bounds_);
    Stmt result = rewrite(body);
    bounds_ = outer;
    return result;
  }

  // The conjuncts that are not known to hold; `false` if one is known to fail.
  Expr decided(const Expr& condition) {
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

  Expr renamed(const Expr& var) {
    const auto* node = var.as<ir::Var>();
    Expr fresh(new ir::Var(node->type, ir::fresh_var_id(), node->name));
    values_[node->id] = fresh;
    return fresh;
  }

  std::vector<Expr> rewrite_indices(const std::vector<Expr>& indices) {
    std::vector<Expr> result;
    result.reserve(indices.size());
    for (const Expr& index : indices) result.push_back(canonical_index(index, &values_));
    return result;
  }

  const std::vector<Expr>& known_;
  const std::vector<Expr>& failed_;
  ir::Substitution values_;
  arith::Bounds bounds_;
};

}  // namespace

Stmt specialize(const Stmt& stmt, const Assumptions& assumptions) {
  return Specializer(assumptions).rewrite(stmt);
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
