#include "lower/vectorize_body.h"

#include <algorithm>
#include <utility>

#include "ir/visit.h"
#include "lower/lane_mask.h"
#include "lower/linear_index.h"
#include "lower/reduction_store.h"
#include "lower/vectorize_mask.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

bool is_constant(const Expr& expr) {
  if (expr.as<ir::Var>() != nullptr || expr.as<ir::Load>() != nullptr) return false;
  bool constant = true;
  ir::for_each_child(expr, [&](const Expr& child) { constant = constant && is_constant(child); });
  return constant;
}

class Widener {
 public:
  Widener(const ir::For& loop, Expr base, unsigned lanes, const arith::Bounds& bounds,
          unsigned active)
      : var_(loop.var.as<ir::Var>()->id), base_(std::move(base)), lanes_(lanes), bounds_(bounds) {
    if (lanes_ == 1) values_[var_] = base_;
    if (active < lanes_) mask_ = prefix_mask(active, lanes_);
  }

  Stmt widen(const Stmt& stmt);

 private:
  Expr widen(const Expr& expr);
  Expr widen_binary(BinaryOp op, Expr a, Expr b);
  Expr widen_select(const ir::Select& node);
  Expr widen_load(const ir::Load& load);
  Expr widen_index(const Expr& index);
  Stmt widen_store(const ir::Store& store);
  Stmt widen_folding_store(const ir::Store& store, Expr index);
  Stmt widen_loop(const ir::For& loop);
  Stmt widen_if(const ir::If& node);
  Stmt widen_under(const Expr& condition, const Stmt& body);
  Stmt widen_prefetch(const ir::Prefetch& prefetch);

  Expr as_vector(Expr expr) const {
    return expr.type().lanes == lanes_ ? expr : ir::broadcast(std::move(expr), lanes_);
  }
  // An expression that may fail, evaluated only in the active lanes.
  Expr guarded(Expr value) const {
    if (!mask_.defined() || !value.type().is_vector()) return value;
    const Expr zero = ir::imm(0, value.type());
    return ir::select(mask_, std::move(value), zero);
  }

  // Broadcasts the operands to the lanes of the widest.
  template <class... Exprs>
  static void match_lanes(Exprs&... exprs) {
    const unsigned lanes = std::max({exprs.type().lanes...});
    ((exprs = exprs.type().lanes == lanes ? exprs : ir::broadcast(exprs, lanes)), ...);
  }

  Expr fresh(const Expr& var, ir::Type type) {
    const auto* node = var.as<ir::Var>();
    return values_[node->id] = Expr(new ir::Var(type, ir::fresh_var_id(), node->name));
  }

  bool varies(const Expr& expr) const {
    if (expr.type().is_vector()) return true;
    if (const auto* var = expr.as<ir::Var>()) return var->id == var_;
    bool found = false;
    ir::for_each_child(expr, [&](const Expr& child) { found = found || varies(child); });
    return found;
  }

  // True if it uses a bound variable whose value has lanes.
  bool names_lanes(const Expr& expr) const {
    if (const auto* var = expr.as<ir::Var>()) {
      const auto found = values_.find(var->id);
      return found != values_.end() && found->second.type().is_vector();
    }
    bool found = false;
    ir::for_each_child(expr, [&](const Expr& child) { found = found || names_lanes(child); });
    return found;
  }

  Expr widen_to_lanes(const Expr& index) {
    Expr lanes = widen(index);
    return lanes.type().is_vector() ? lanes : ir::broadcast(lanes, lanes_);
  }

  ir::VarId var_;
  Expr base_;
  unsigned lanes_;
  ir::Substitution values_;  // bound variables -> those of this copy
  arith::Bounds bounds_;
  Expr mask_;            // of the enclosing Ifs with varying lanes; null: none
  bool in_arm_ = false;  // of a Select with varying lanes
};

Expr Widener::widen(const Expr& expr) {
  switch (expr.kind()) {
    case ir::ExprKind::IntImm:
    case ir::ExprKind::FloatImm:
      return expr;
    case ir::ExprKind::Var: {
      const ir::VarId id = expr.as<ir::Var>()->id;
      const auto found = values_.find(id);
      if (found != values_.end()) return found->second;
      return id == var_ ? ir::ramp(base_, 1, lanes_) : expr;
    }
    case ir::ExprKind::Cast: {
      const auto* node = expr.as<ir::Cast>();
      return ir::cast(node->type.scalar, widen(node->value));
    }
    case ir::ExprKind::Binary: {
      const auto* node = expr.as<ir::Binary>();
      return widen_binary(node->op, widen(node->a), widen(node->b));
    }
    case ir::ExprKind::Fma: {
      const auto* node = expr.as<ir::Fma>();
      Expr a = widen(node->a), b = widen(node->b), c = widen(node->c);
      match_lanes(a, b, c);
      return ir::fma(std::move(a), std::move(b), std::move(c));
    }
    case ir::ExprKind::Select:
      return widen_select(*expr.as<ir::Select>());
    case ir::ExprKind::Call: {
      const auto* node = expr.as<ir::Call>();
      if (node->args.size() == 2) {
        Expr a = widen(node->args[0]), b = widen(node->args[1]);
        match_lanes(a, b);
        return ir::call(node->function, {std::move(a), std::move(b)});
      }
      Expr a = widen(node->args[0]);
      if (node->function == ir::Intrinsic::Bitcast) return ir::bitcast(node->type.scalar, a);
      return ir::call(node->function, {std::move(a)});
    }
    case ir::ExprKind::Load:
      return widen_load(*expr.as<ir::Load>());
    case ir::ExprKind::Ramp:
    case ir::ExprKind::Broadcast:
    case ir::ExprKind::VectorReduce:
    case ir::ExprKind::Dot:
      break;
  }
  CHECK(false, "a vector in a loop to be vectorized");
}

// A ramp plus or times a scalar stays a ramp.
Expr Widener::widen_binary(BinaryOp op, Expr a, Expr b) {
  const auto* ramp = a.as<ir::Ramp>();
  if (ramp != nullptr && !b.type().is_vector()) {
    const int64_t* factor = ir::as_int(b);
    if (op == BinaryOp::Add) return ir::ramp(ramp->base + b, ramp->stride, lanes_);
    if (op == BinaryOp::Sub) return ir::ramp(ramp->base - b, ramp->stride, lanes_);
    if (op == BinaryOp::Mul && factor != nullptr) {
      return ir::ramp(ramp->base * *factor, ramp->stride * *factor, lanes_);
    }
  }
  match_lanes(a, b);
  const bool divides = op == BinaryOp::Div || op == BinaryOp::Mod;
  const bool may_fail = divides && ir::is_integer(a.type()) && ir::as_int(b) == nullptr;
  Expr value = ir::binary(op, std::move(a), std::move(b));
  return may_fail ? guarded(std::move(value)) : value;
}

Expr Widener::widen_select(const ir::Select& node) {
  Expr condition = widen(node.condition);
  const bool outer = std::exchange(in_arm_, in_arm_ || condition.type().is_vector());
  Expr if_true = widen(node.if_true), if_false = widen(node.if_false);
  in_arm_ = outer;
  match_lanes(condition, if_true, if_false);
  return ir::select(std::move(condition), std::move(if_true), std::move(if_false));
}

Expr Widener::widen_load(const ir::Load& load) {
  Expr index = widen_index(load.indices[0]);
  // A scalar load would be evaluated even if no lane takes this arm.
  if (in_arm_ && !index.type().is_vector()) index = ir::broadcast(std::move(index), lanes_);
  return guarded(ir::load(load.type.scalar, load.buffer, {std::move(index)}));
}

Expr Widener::widen_index(const Expr& index) {
  if (names_lanes(index)) return widen_to_lanes(index);
  LinearIndex sum = linear_of(index, &values_);
  const int64_t stride = sum.coefficient_of(var_);
  sum.erase(var_);
  for (const IndexTerm& term : sum.terms) {
    if (varies(term.atom)) return widen_to_lanes(index);
  }
  if (stride == 0) return to_expr(sum);
  sum.add(linear_of(base_), stride);
  return ir::ramp(to_expr(sum), stride, lanes_);
}

Stmt Widener::widen_store(const ir::Store& store) {
  Expr index = widen_index(store.indices[0]);
  if (!index.type().is_vector() && lanes_ > 1) return widen_folding_store(store, std::move(index));
  Expr value = as_vector(widen(store.value));
  Expr predicate = mask_;
  if (store.predicate.defined()) {
    Expr own = as_vector(widen(store.predicate));
    predicate = predicate.defined() ? predicate && own : own;
  }
  return ir::make_store(store.buffer, {std::move(index)}, std::move(value), std::move(predicate),
                        store.stream);
}

// All lanes fold into one element: they are folded first, without inactive lanes.
Stmt Widener::widen_folding_store(const ir::Store& store, Expr index) {
  const ReductionStore reduction = *match_reduction(store);
  Expr value = as_vector(widen(reduction.value));
  if (mask_.defined()) {
    const Expr identity = identity_of(reduction.op, value.type());
    value = ir::select(mask_, std::move(value), identity);
  }
  Expr self = ir::load(store.value.type().scalar, store.buffer, {index});
  Expr folded = ir::vector_reduce(reduction.op, std::move(value));
  return ir::make_store(store.buffer, {std::move(index)},
                        ir::binary(reduction.op, std::move(self), std::move(folded)), {},
                        store.stream);
}

// The first lane represents all: a vector is in one or two cache lines.
Stmt Widener::widen_prefetch(const ir::Prefetch& prefetch) {
  const Expr index = widen_index(prefetch.indices[0]);
  if (!index.type().is_vector()) return ir::make_prefetch(prefetch.buffer, {index});
  const auto* ramp = index.as<ir::Ramp>();
  return ramp == nullptr ? Stmt{} : ir::make_prefetch(prefetch.buffer, {ramp->base});
}

Stmt Widener::widen_loop(const ir::For& loop) {
  Expr extent = widen(loop.extent);
  const Expr var = fresh(loop.var, ir::kIndex);
  if (const int64_t* trips = ir::as_int(extent); trips != nullptr && *trips > 0) {
    bounds_[var.as<ir::Var>()->id] = {0, *trips - 1};
  }
  Stmt body = widen(loop.body);
  if (!body.defined()) return {};
  return ir::make_for_like(loop, var, std::move(extent), std::move(body));
}

Stmt Widener::widen_if(const ir::If& node) {
  Expr condition = arith::simplify(widen(node.condition), bounds_);
  if (const auto* uniform = condition.as<ir::Broadcast>()) condition = uniform->value;
  const Expr inverse = arith::simplify(ir::call(ir::Intrinsic::Not, {condition}), bounds_);
  if (condition.type().is_vector()) {
    return ir::make_block(
        {widen_under(condition, node.then_body), widen_under(inverse, node.else_body)});
  }
  if (const int64_t* known = ir::as_int(condition)) {
    return widen(*known != 0 ? node.then_body : node.else_body);
  }
  Stmt then_body = widen(node.then_body), else_body = widen(node.else_body);
  if (then_body.defined()) return ir::make_if(condition, std::move(then_body), else_body);
  return else_body.defined() ? ir::make_if(inverse, std::move(else_body)) : Stmt{};
}

Stmt Widener::widen_under(const Expr& condition, const Stmt& body) {
  if (!body.defined()) return {};
  Expr mask = mask_.defined() ? mask_ && condition : condition;
  const MaskLanes lanes = lanes_of_mask(mask, bounds_);
  if (lanes == MaskLanes::None) return {};
  if (lanes == MaskLanes::All) return widen(body);
  // Binds values that the body might change, and values unknown at compile time.
  const Expr name = is_constant(mask) ? mask : ir::var("mask", mask.type());
  const Expr outer = std::exchange(mask_, name);
  Stmt result = widen(body);
  mask_ = outer;
  if (!result.defined()) return {};
  if (lanes == MaskLanes::Unknown) {
    result = ir::make_if(ir::vector_reduce(BinaryOp::Or, name), std::move(result));
  }
  if (name.same_as(mask)) return result;
  return ir::make_let(name, std::move(mask), std::move(result));
}

Stmt Widener::widen(const Stmt& stmt) {
  if (!stmt.defined()) return {};
  switch (stmt.kind()) {
    case ir::StmtKind::Store:
      return widen_store(*stmt.as<ir::Store>());
    case ir::StmtKind::Prefetch:
      return widen_prefetch(*stmt.as<ir::Prefetch>());
    case ir::StmtKind::For:
      return widen_loop(*stmt.as<ir::For>());
    case ir::StmtKind::If:
      return widen_if(*stmt.as<ir::If>());
    case ir::StmtKind::Let: {
      const auto* let = stmt.as<ir::Let>();
      Expr value = widen(let->value);
      const Expr var = fresh(let->var, value.type());
      Stmt body = widen(let->body);
      if (!body.defined()) return {};
      return ir::make_let(var, std::move(value), std::move(body));
    }
    case ir::StmtKind::Block: {
      std::vector<Stmt> stmts;
      for (const Stmt& child : stmt.as<ir::Block>()->stmts) stmts.push_back(widen(child));
      return ir::make_block(std::move(stmts));
    }
    case ir::StmtKind::Transpose:
    case ir::StmtKind::Allocate:
      break;
  }
  CHECK(false, "an Allocate in a loop to be vectorized");
}

}  // namespace

Stmt vectorize_body(const ir::For& loop, const Expr& base, unsigned lanes,
                    const arith::Bounds& bounds, unsigned active) {
  return Widener(loop, base, lanes, bounds, active).widen(loop.body);
}

}  // namespace tilewright::lower
