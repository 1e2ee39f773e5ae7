#include "arith/simplify.h"

#include <algorithm>

#include "arith/simplifier.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

namespace {

// Simplifies statements with the bounds of the enclosing loops and conditions.
class StmtSimplifier : public ir::Rewriter {
 public:
  explicit StmtSimplifier(const Bounds& bounds) : bounds_(bounds), simplifier_(bounds_) {}

  Expr rewrite(const Expr& expr) override { return simplifier_.rewrite(expr); }
  Stmt rewrite(const Stmt& stmt) override {
    if (!stmt.defined()) return stmt;
    switch (stmt.kind()) {
      case ir::StmtKind::For:
        return rewrite_for(stmt);
      case ir::StmtKind::If:
        return rewrite_if(stmt);
      case ir::StmtKind::Let:
        return rewrite_let(stmt);
      default:
        return rewrite_children(stmt);
    }
  }

 private:
  // Sets the bounds of a variable for its scope; the destructor restores the old ones.
  class Scope {
   public:
    Scope(Bounds& bounds, ir::VarId id, const Interval& interval) : bounds_(bounds), id_(id) {
      const auto found = bounds.find(id);
      if (found != bounds.end()) outer_ = found->second;
      bounds[id] = interval;
    }
    Scope(Scope&& other) noexcept
        : bounds_(other.bounds_),
          id_(other.id_),
          outer_(other.outer_),
          active_(std::exchange(other.active_, false)) {}
    ~Scope() {
      if (!active_) return;
      if (outer_) {
        bounds_[id_] = *outer_;
      } else {
        bounds_.erase(id_);
      }
    }

   private:
    Bounds& bounds_;
    ir::VarId id_;
    std::optional<Interval> outer_;
    bool active_ = true;
  };

  Stmt rewrite_for(const Stmt& stmt);
  Stmt rewrite_if(const Stmt& stmt);
  Stmt rewrite_let(const Stmt& stmt);
  Stmt rewrite_under(const Expr& condition, bool holds, const Stmt& body);
  void assume(const Expr& condition, bool holds, std::vector<Scope>& scopes);

  Bounds bounds_;
  Simplifier simplifier_;
};

Stmt StmtSimplifier::rewrite_for(const Stmt& stmt) {
  const auto* loop = stmt.as<ir::For>();
  Expr extent = rewrite(loop->extent);
  const Interval trips = range_of(extent, bounds_);
  if (trips.high <= 0) return {};
  const int64_t last = trips.high == INT64_MAX ? INT64_MAX : trips.high - 1;
  Stmt body;
  {
    const Scope scope(bounds_, loop->var.as<ir::Var>()->id, {0, last});
    body = rewrite(loop->body);
  }
  if (!body.defined()) return {};
  if (trips == Interval{1, 1}) return body;  // the variable, bounded by [0, 0], is gone
  if (extent.same_as(loop->extent) && body.same_as(loop->body)) return stmt;
  return ir::make_for_like(*loop, loop->var, std::move(extent), std::move(body));
}

// Narrows the bounds of x by `x < c` and `x >= c` (or their negations) and conjunctions of such.
void StmtSimplifier::assume(const Expr& condition, bool holds, std::vector<Scope>& scopes) {
  const auto* n = condition.as<ir::Binary>();
  if (n == nullptr) return;
  if (n->op == (holds ? BinaryOp::And : BinaryOp::Or)) {
    assume(n->a, holds, scopes);
    assume(n->b, holds, scopes);
    return;
  }
  const auto* v = n->a.as<ir::Var>();
  const int64_t* c = ir::as_int(n->b);
  if (v == nullptr || c == nullptr || v->type != ir::kIndex) return;
  const auto found = bounds_.find(v->id);
  Interval range = found == bounds_.end() ? kEverything : found->second;
  if (n->op == BinaryOp::Eq && holds) {
    range = {*c, *c};
  } else if (n->op == BinaryOp::Lt || n->op == BinaryOp::Ge) {
    const bool below = (n->op == BinaryOp::Lt) == holds;
    if (below && *c == INT64_MIN) return;
    if (below) range.high = std::min(range.high, *c - 1);
    if (!below) range.low = std::max(range.low, *c);
    if (range.low > range.high) return;  // never runs; the condition is simplified elsewhere
  } else {
    return;
  }
  scopes.emplace_back(bounds_, v->id, range);
}

Stmt StmtSimplifier::rewrite_under(const Expr& condition, bool holds, const Stmt& body) {
  if (!body.defined()) return {};
  std::vector<Scope> scopes;
  assume(condition, holds, scopes);
  Stmt result = rewrite(body);
  while (!scopes.empty()) scopes.pop_back();  // innermost first: one variable may be narrowed twice
  return result;
}

Stmt StmtSimplifier::rewrite_if(const Stmt& stmt) {
  const auto* branch = stmt.as<ir::If>();
  Expr condition = rewrite(branch->condition);
  if (const int64_t* truth = ir::as_int(condition)) {
    return rewrite(*truth != 0 ? branch->then_body : branch->else_body);
  }
  Stmt yes = rewrite_under(condition, true, branch->then_body);
  Stmt no = rewrite_under(condition, false, branch->else_body);
  if (condition.same_as(branch->condition) && yes.same_as(branch->then_body) &&
      no.same_as(branch->else_body)) {
    return stmt;
  }
  if (!yes.defined() && !no.defined()) return {};
  if (yes.defined()) return ir::make_if(std::move(condition), std::move(yes), std::move(no));
  return ir::make_if(rewrite(ir::call(ir::Intrinsic::Not, {condition})), std::move(no));
}

Stmt StmtSimplifier::rewrite_let(const Stmt& stmt) {
  const auto* let = stmt.as<ir::Let>();
  const ir::VarId id = let->var.as<ir::Var>()->id;
  Expr value = rewrite(let->value);
  const auto* broadcast = value.as<ir::Broadcast>();
  const ir::ExprKind kind = broadcast != nullptr ? broadcast->value.kind() : value.kind();
  if (kind == ir::ExprKind::IntImm || kind == ir::ExprKind::FloatImm || kind == ir::ExprKind::Var) {
    simplifier_.let_values[id] = value;
    Stmt body = rewrite(let->body);
    simplifier_.let_values.erase(id);
    return body;
  }
  const Scope scope(bounds_, id, range_of(value, bounds_));
  Stmt body = rewrite(let->body);
  if (value.same_as(let->value) && body.same_as(let->body)) return stmt;
  if (!body.defined()) return {};
  return ir::make_let(let->var, std::move(value), std::move(body));
}

}  // namespace

Expr simplify(const Expr& expr, const Bounds& bounds) { return Simplifier(bounds).rewrite(expr); }

Stmt simplify(const Stmt& stmt, const Bounds& bounds) {
  return StmtSimplifier(bounds).rewrite(stmt);
}

}  // namespace tilewright::arith
