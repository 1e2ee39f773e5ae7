#include "lower/conditions.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

class UseCollector : public ir::Visitor {
 public:
  std::vector<ConditionUse> uses;

  void visit(const Expr& expr) override {
    if (const auto* node = expr.as<ir::Select>()) note(node->condition, false);
    ir::Visitor::visit(expr);
  }

  void visit(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<ir::For>()) {
      visit(loop->extent);
      return visit_inside(*loop);
    }
    if (const auto* let = stmt.as<ir::Let>()) {
      visit(let->value);
      binders_.push_back({let->var.as<ir::Var>()->id, 1});
      visit(let->body);
      binders_.pop_back();
      return;
    }
    if (const auto* node = stmt.as<ir::If>()) note(node->condition, true);
    ir::Visitor::visit(stmt);
  }

  void visit_inside(const ir::For& loop) {
    const int64_t* extent = ir::as_int(loop.extent);
    const bool counts = extent != nullptr && loop.loop_kind == ir::ForKind::Serial;
    binders_.push_back({loop.var.as<ir::Var>()->id, counts ? *extent : 1});
    visit(loop.body);
    binders_.pop_back();
  }

 private:
  struct Binder {
    ir::VarId var;
    int64_t trips;
  };

  void note(const Expr& condition, bool is_if) {
    if (condition.type().is_vector()) return;
    ConditionUse use{.invariant = {}, .own = {}, .is_if = is_if};
    for (size_t k = 1; k < binders_.size(); ++k) use.inner_trips *= binders_[k].trips;
    use.trips = use.inner_trips * binders_[0].trips;
    for (const Expr& conjunct : conjuncts_of(condition)) {
      if (!is_movable(conjunct)) continue;
      // The loops inside the innermost binder that it uses.
      int64_t trips = 1;
      auto binder = binders_.rbegin();
      for (; binder != binders_.rend(); ++binder) {
        if (ir::uses_var(conjunct, binder->var)) break;
        trips *= binder->trips;
      }
      if (binder == binders_.rend()) {
        use.invariant.push_back(conjunct);
      } else if (ir::uses_var(conjunct, binders_[0].var)) {
        use.own.push_back({conjunct, trips});
      }
    }
    if (!use.invariant.empty() || !use.own.empty()) uses.push_back(std::move(use));
  }

  std::vector<Binder> binders_;  // from the loop inwards
};

class ConditionFinder : public ir::Visitor {
 public:
  bool found = false;
  void visit(const Expr& expr) override {
    found = found || expr.as<ir::Select>() != nullptr;
    if (!found) ir::Visitor::visit(expr);
  }
  void visit(const Stmt& stmt) override {
    found = found || stmt.as<ir::If>() != nullptr;
    if (!found) ir::Visitor::visit(stmt);
  }
};

void add_conjuncts(const Expr& condition, std::vector<Expr>& out) {
  const auto* node = condition.as<ir::Binary>();
  if (node == nullptr || node->op != BinaryOp::And) return out.push_back(condition);
  add_conjuncts(node->a, out);
  add_conjuncts(node->b, out);
}

}  // namespace

std::vector<Expr> conjuncts_of(const Expr& condition) {
  std::vector<Expr> conjuncts;
  add_conjuncts(condition, conjuncts);
  return conjuncts;
}

Expr conjunction_of(const std::vector<Expr>& conjuncts) {
  if (conjuncts.empty()) return ir::int_imm(1, ir::kBool);
  Expr all = conjuncts[0];
  for (size_t k = 1; k < conjuncts.size(); ++k) all = std::move(all) && conjuncts[k];
  return all;
}

bool holds(const std::vector<Expr>& list, const Expr& expr) {
  return std::ranges::any_of(list, [&](const Expr& known) { return ir::equal(known, expr); });
}

bool is_movable(const Expr& condition) {
  if (condition.as<ir::Load>() != nullptr) return false;
  if (const auto* node = condition.as<ir::Binary>(); node != nullptr && !ir::is_float(node->type)) {
    const bool divides = node->op == BinaryOp::Div || node->op == BinaryOp::Mod;
    const int64_t* divisor = ir::as_int(node->b);
    if (divides && (divisor == nullptr || *divisor == 0)) return false;
  }
  bool movable = true;
  ir::for_each_child(condition, [&](const Expr& child) { movable = movable && is_movable(child); });
  return movable;
}

std::vector<ConditionUse> condition_uses(const ir::For& loop) {
  UseCollector collector;
  collector.visit_inside(loop);
  return std::move(collector.uses);
}

bool has_conditions(const Stmt& stmt) {
  ConditionFinder finder;
  if (stmt.defined()) finder.visit(stmt);
  return finder.found;
}

}  // namespace tilewright::lower
