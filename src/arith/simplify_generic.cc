#include "arith/simplify_generic.h"

#include <cmath>
#include <utility>
#include <vector>

#include "arith/simplify_bool.h"
#include "ir/equal.h"
#include "ir/visit.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::ExprKind;
using ir::Intrinsic;

namespace {

// The scalar constant of either sort, through a Broadcast, is `value` (-0 is not 0).
bool is_constant(const Expr& expr, double value) {
  const auto* b = expr.as<ir::Broadcast>();
  const Expr& x = b != nullptr ? b->value : expr;
  if (const auto* i = x.as<ir::IntImm>()) return static_cast<double>(i->value) == value;
  const auto* f = x.as<ir::FloatImm>();
  return f != nullptr && f->value == value && std::signbit(f->value) == std::signbit(value);
}

bool is_any_constant(const Expr& expr) {
  const auto* b = expr.as<ir::Broadcast>();
  const ExprKind kind = b != nullptr ? b->value.kind() : expr.kind();
  return kind == ExprKind::IntImm || kind == ExprKind::FloatImm;
}

Expr identities_of_floats(const ir::Binary* n, const Expr& expr) {
  switch (n->op) {
    case BinaryOp::Add:
      return is_constant(n->b, -0.0) ? n->a : expr;  // x + -0.0 -> x
    case BinaryOp::Sub:
      return is_constant(n->b, 0.0) ? n->a : expr;  // x - 0.0 -> x
    case BinaryOp::Mul:
      if (is_constant(n->b, 1)) return n->a;  // x * 1.0 -> x
      return is_constant(n->a, 1) ? n->b : expr;
    case BinaryOp::Div:
      return is_constant(n->b, 1) ? n->a : expr;  // x / 1.0 -> x
    case BinaryOp::Min:
    case BinaryOp::Max:
      return ir::equal(n->a, n->b) ? n->a : expr;  // min(x, x) -> x
    default:
      return expr;
  }
}

// Modulo 2^n, so for every width.
Expr identities_of_integers(const ir::Binary* n, const Expr& expr) {
  const auto zero = [&] { return ir::int_imm(0, n->type); };
  switch (n->op) {
    case BinaryOp::Add:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      if (is_constant(n->b, 0)) return n->a;  // x + 0 -> x
      if (is_constant(n->a, 0)) return n->b;
      break;
    case BinaryOp::Sub:
      if (is_constant(n->b, 0)) return n->a;
      if (ir::equal(n->a, n->b)) return zero();  // x - x -> 0
      break;
    case BinaryOp::Mul:
      if (is_constant(n->b, 1)) return n->a;
      if (is_constant(n->a, 1)) return n->b;
      if (is_constant(n->a, 0) || is_constant(n->b, 0)) return zero();  // x * 0 -> 0
      break;
    case BinaryOp::Div:
      if (is_constant(n->b, 1)) return n->a;
      break;
    case BinaryOp::Mod:
      if (is_constant(n->b, 1)) return zero();  // x % 1 -> 0
      break;
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (ir::equal(n->a, n->b)) return n->a;
      break;
    case BinaryOp::BitAnd:
      if (is_constant(n->a, 0) || is_constant(n->b, 0)) return zero();
      break;
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      if (is_constant(n->b, 0)) return n->a;
      break;
    default:
      break;
  }
  const bool commutes = n->op == BinaryOp::Add || n->op == BinaryOp::Mul ||
                        n->op == BinaryOp::Min || n->op == BinaryOp::Max;
  if (commutes && is_any_constant(n->a) && !is_any_constant(n->b)) {  // c + x -> x + c
    return ir::binary(n->op, n->b, n->a);
  }
  return expr;
}

Expr select_rules(const ir::Select* n, const Expr& expr) {
  if (const int64_t* truth = ir::as_int(n->condition)) {  // select(true, x, y) -> x
    return *truth != 0 ? n->if_true : n->if_false;
  }
  if (ir::equal(n->if_true, n->if_false)) return n->if_true;  // select(c, x, x) -> x
  if (!ir::is_bool(n->type)) return expr;
  const int64_t *yes = ir::as_int(n->if_true), *no = ir::as_int(n->if_false);
  if (yes == nullptr || no == nullptr) return expr;
  if (*yes != 0) return n->condition;  // select(c, true, false) -> c
  Expr negation = ir::call(Intrinsic::Not, {n->condition});
  return negation.kind() == ExprKind::Call ? simplify_not(negation) : negation;
}

// Eq and Ne on Bool with a constant:  b == true -> b,  b == false -> not(b)
Expr bool_equality(const ir::Binary* n, const Expr& expr) {
  const bool first = is_any_constant(n->a);
  const Expr& x = first ? n->b : n->a;
  const int64_t* value = ir::as_int(first ? n->a : n->b);
  if (value == nullptr) return expr;
  if ((*value != 0) == (n->op == BinaryOp::Eq)) return x;
  Expr negation = ir::call(Intrinsic::Not, {x});
  return negation.kind() == ExprKind::Call ? simplify_not(negation) : negation;
}

// All children as scalars, if every one is a Broadcast; empty otherwise.
std::vector<Expr> broadcast_values(const Expr& expr) {
  std::vector<Expr> values;
  bool all = true;
  ir::for_each_child(expr, [&](const Expr& child) {
    const auto* b = child.as<ir::Broadcast>();
    all = all && b != nullptr;
    if (all) values.push_back(b->value);
  });
  return all ? values : std::vector<Expr>{};
}

// The operation of a vector node on scalars: x4(a) * x4(b) -> a * b.
Expr on_scalars(const Expr& expr, std::vector<Expr> v) {
  switch (expr.kind()) {
    case ExprKind::Cast:
      return ir::cast(expr.type().scalar, v[0]);
    case ExprKind::Binary:
      return ir::binary(expr.as<ir::Binary>()->op, v[0], v[1]);
    case ExprKind::Fma:
      return ir::fma(v[0], v[1], v[2]);
    case ExprKind::Select:
      return ir::select(v[0], v[1], v[2]);
    case ExprKind::Call: {
      const Intrinsic function = expr.as<ir::Call>()->function;
      if (function == Intrinsic::Bitcast) return ir::bitcast(expr.type().scalar, v[0]);
      return ir::call(function, std::move(v));
    }
    case ExprKind::Load:
      return ir::load(expr.type().scalar, expr.as<ir::Load>()->buffer, std::move(v));
    default:
      return {};
  }
}

Expr reduce_rules(const ir::VectorReduce* n, const Expr& expr) {
  const auto* b = n->value.as<ir::Broadcast>();
  if (b == nullptr || n->op == BinaryOp::Add || n->op == BinaryOp::Mul) return expr;
  return b->value;  // min, max, and, or of equal lanes
}

Expr identities(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::Binary: {
      const auto* n = expr.as<ir::Binary>();
      if (n->op == BinaryOp::And || n->op == BinaryOp::Or) return simplify_logical(expr);
      const ir::Type operand = n->a.type();
      if (ir::is_bool(operand)) return bool_equality(n, expr);
      return ir::is_float(operand) ? identities_of_floats(n, expr)
                                   : identities_of_integers(n, expr);
    }
    case ExprKind::Select:
      return select_rules(expr.as<ir::Select>(), expr);
    case ExprKind::Call:
      return expr.as<ir::Call>()->function == Intrinsic::Not ? simplify_not(expr) : expr;
    case ExprKind::VectorReduce:
      return reduce_rules(expr.as<ir::VectorReduce>(), expr);
    default:
      return expr;
  }
}

}  // namespace

Expr simplify_node(const Expr& expr) {
  if (expr.type().is_vector()) {
    std::vector<Expr> values = broadcast_values(expr);
    if (!values.empty()) {  // x4(a) * x4(b) -> x4(a * b)
      Expr scalar = on_scalars(expr, std::move(values));
      if (scalar.defined()) return ir::broadcast(identities(scalar), expr.type().lanes);
    }
  }
  return identities(expr);
}

}  // namespace tilewright::arith
