#include "arith/simplifier.h"

#include <utility>

#include "arith/simplify_bool.h"
#include "arith/simplify_compare.h"
#include "arith/simplify_generic.h"
#include "arith/simplify_minmax.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::ExprKind;

Expr Simplifier::rewrite(const Expr& expr) {
  const ir::Type type = expr.type();
  if (expr.kind() == ExprKind::IntImm || expr.kind() == ExprKind::FloatImm) return expr;
  if (type.scalar == ir::Scalar::I64) return linear(expr).to_expr(type.lanes, expr);
  if (const auto* v = expr.as<ir::Var>()) {
    const auto found = let_values.find(v->id);
    return found == let_values.end() ? expr : found->second;
  }
  if (const auto* n = expr.as<ir::Binary>(); n != nullptr && ir::is_bool(type)) {
    if (n->op == BinaryOp::And || n->op == BinaryOp::Or) {
      const Expr node = rewrite_children(expr);
      return node.kind() == ExprKind::Binary ? simplify_logical(node) : node;
    }
    if (n->a.type().scalar == ir::Scalar::I64) return compare(expr);
    const Expr node = generic(expr);
    return node.kind() == ExprKind::Binary ? compare_narrow(node, bounds_) : node;
  }
  return generic(expr);
}

Linear Simplifier::linear(const Expr& expr) {
  Linear form;
  add_linear(expr, 1, form);
  while (merge_div_and_mod(form, *this)) {
  }
  return form;
}

void Simplifier::add_linear(const Expr& expr, int64_t times, Linear& out) {
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return out.add_constant(expr.as<ir::IntImm>()->value, times);
    case ExprKind::Var:
      return add_var(expr, times, out);
    case ExprKind::Binary:
      return add_binary(expr, times, out);
    case ExprKind::Select:
      return add_select(expr, times, out);
    case ExprKind::Broadcast:
      return add_linear(expr.as<ir::Broadcast>()->value, times, out);
    case ExprKind::Ramp: {
      const auto* n = expr.as<ir::Ramp>();
      int64_t stride = 0;
      if (__builtin_mul_overflow(n->stride, times, &stride)) out.exact = false;
      add_linear(n->base, times, out);
      return out.add_lane(stride, n->type.lanes);
    }
    default:
      break;
  }
  const Expr atom = generic(expr);
  if (atom.kind() == expr.kind()) return out.add_term(atom, times, range_of(atom, bounds_));
  add_linear(atom, times, out);  // simplified away: a broadcast, a constant, a reduction of one
}

void Simplifier::add_var(const Expr& expr, int64_t times, Linear& out) {
  const ir::VarId id = expr.as<ir::Var>()->id;
  if (!let_values.empty()) {
    const auto found = let_values.find(id);
    if (found != let_values.end()) return add_linear(found->second, times, out);
  }
  const auto found = bounds_.find(id);
  if (found == bounds_.end()) return out.add_term(expr, times, kEverything);
  if (found->second.is_point()) return out.add_constant(found->second.low, times);
  out.add_term(expr, times, found->second);
}

void Simplifier::add_binary(const Expr& expr, int64_t times, Linear& out) {
  const auto* n = expr.as<ir::Binary>();
  switch (n->op) {
    case BinaryOp::Add:
      add_linear(n->a, times, out);
      return add_linear(n->b, times, out);
    case BinaryOp::Sub: {
      int64_t negated = 0;
      if (__builtin_sub_overflow(0, times, &negated)) out.exact = false;
      add_linear(n->a, times, out);
      return add_linear(n->b, negated, out);
    }
    case BinaryOp::Mul:
      return add_product(expr, times, out);
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return add_quotient(expr, linear(n->a), linear(n->b), times, *this, out);
    case BinaryOp::Min:
    case BinaryOp::Max:
      return add_min_max(expr, linear(n->a), linear(n->b), times, out);
    default:
      break;
  }
  const Expr atom = generic(expr);
  const auto* result = atom.as<ir::Binary>();
  if (result == nullptr || result->op != n->op) return add_linear(atom, times, out);
  out.add_term(atom, times, range_of(atom, bounds_));
}

void Simplifier::add_product(const Expr& expr, int64_t times, Linear& out) {
  const auto* n = expr.as<ir::Binary>();
  int64_t scaled = 0;
  if (const int64_t* c = ir::as_int(n->b)) {  // times * (a * c) = (times * c) * a
    if (__builtin_mul_overflow(times, *c, &scaled)) out.exact = false;
    if (scaled == 0) return;
    return add_linear(n->a, scaled, out);
  }
  Linear a = linear(n->a), b = linear(n->b);
  if (a.is_constant() || b.is_constant()) {
    const bool a_is_number = a.is_constant();
    if (__builtin_mul_overflow(times, (a_is_number ? a : b).constant, &scaled)) out.exact = false;
    return out.add(a_is_number ? b : a, scaled);
  }
  // (p * x) * (q * y) -> (p * q) * (x * y), for atoms x and y
  for (Linear* side : {&a, &b}) {
    if (side->terms.size() != 1 || side->constant != 0) continue;
    if (__builtin_mul_overflow(times, side->terms[0].coefficient, &times)) out.exact = false;
    side->terms[0].coefficient = 1;
  }
  if (times == 0) return;
  out.exact &= a.exact && b.exact;
  out.add_term(make_binary(BinaryOp::Mul, a, b, expr), times, product(a.range(), b.range()));
}

void Simplifier::add_select(const Expr& expr, int64_t times, Linear& out) {
  const auto* n = expr.as<ir::Select>();
  Expr condition = rewrite(n->condition);
  if (const int64_t* truth = ir::as_int(condition)) {  // select(true, x, y) -> x
    return add_linear(*truth != 0 ? n->if_true : n->if_false, times, out);
  }
  const Linear yes = linear(n->if_true), no = linear(n->if_false);
  arith::add_select(expr, std::move(condition), yes, no, times, out);
}

Expr Simplifier::compare(const Expr& expr) {
  const auto* n = expr.as<ir::Binary>();
  const Linear a = linear(n->a), b = linear(n->b);
  Linear difference = a;
  difference.add(b, -1);
  while (merge_div_and_mod(difference, *this)) {
  }
  return compare_linear(expr, a, b, difference);
}

Expr Simplifier::generic(const Expr& expr) { return simplify_node(rewrite_children(expr)); }

}  // namespace tilewright::arith
