#include "arith/simplify_bool.h"

#include <optional>

#include "ir/equal.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;
using ir::Intrinsic;

namespace {

bool is_constant(const Expr& expr, int64_t value) {
  const int64_t* known = ir::as_int(expr);
  return known != nullptr && *known == value;
}

// `x < c` or `x >= c` on I64: the form that comparisons with constants have.
struct Limit {
  Expr x;
  BinaryOp op = BinaryOp::Lt;
  int64_t c = 0;
};
std::optional<Limit> match_limit(const Expr& expr) {
  const auto* n = expr.as<ir::Binary>();
  if (n == nullptr || (n->op != BinaryOp::Lt && n->op != BinaryOp::Ge)) return std::nullopt;
  const int64_t* c = ir::as_int(n->b);
  if (c == nullptr || n->a.type().scalar != ir::Scalar::I64) return std::nullopt;
  return Limit{n->a, n->op, *c};
}

// Two limits on one x, under && (or, dually, ||):
//   x < c && x < d   -> x < min(c, d)         x < c || x < d   -> x < max(c, d)
//   x >= c && x >= d -> x >= max(c, d)        x >= c || x >= d -> x >= min(c, d)
//   x < c && x >= d  -> false  for c <= d     x < c || x >= d  -> true  for d <= c
Expr merge_limits(const Expr& expr) {
  const auto* n = expr.as<ir::Binary>();
  const auto a = match_limit(n->a), b = match_limit(n->b);
  if (!a || !b || !ir::equal(a->x, b->x)) return expr;
  const bool is_and = n->op == BinaryOp::And;
  if (a->op == b->op) {
    const bool keep_smaller = is_and == (a->op == BinaryOp::Lt);
    return (a->c <= b->c) == keep_smaller ? n->a : n->b;
  }
  const int64_t upper = a->op == BinaryOp::Lt ? a->c : b->c;
  const int64_t lower = a->op == BinaryOp::Lt ? b->c : a->c;
  if (is_and ? upper <= lower : lower <= upper) return ir::int_imm(is_and ? 0 : 1, expr.type());
  return expr;
}

std::optional<BinaryOp> inverse(BinaryOp op) {
  switch (op) {
    case BinaryOp::Eq:
      return BinaryOp::Ne;
    case BinaryOp::Ne:
      return BinaryOp::Eq;
    case BinaryOp::Lt:
      return BinaryOp::Ge;
    case BinaryOp::Le:
      return BinaryOp::Gt;
    case BinaryOp::Gt:
      return BinaryOp::Le;
    case BinaryOp::Ge:
      return BinaryOp::Lt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Expr simplify_logical(const Expr& expr) {
  const auto* n = expr.as<ir::Binary>();
  const auto *x = n->a.as<ir::Broadcast>(), *y = n->b.as<ir::Broadcast>();
  if (x != nullptr && y != nullptr) {  // x4(a) && x4(b) -> x4(a && b)
    const Expr scalar = ir::binary(n->op, x->value, y->value);
    const bool folded = scalar.as<ir::Binary>() == nullptr;
    return ir::broadcast(folded ? scalar : simplify_logical(scalar), n->type.lanes);
  }
  const bool is_and = n->op == BinaryOp::And;
  const int64_t neutral = is_and ? 1 : 0, absorbing = is_and ? 0 : 1;
  if (is_constant(n->a, neutral) || is_constant(n->b, absorbing)) return n->b;  // true && x -> x
  if (is_constant(n->b, neutral) || is_constant(n->a, absorbing)) return n->a;  // x && false
  if (ir::equal(n->a, n->b)) return n->a;                                       // x && x -> x
  // (x && y) && y -> x && y
  const auto* left = n->a.as<ir::Binary>();
  if (left != nullptr && left->op == n->op) {
    if (ir::equal(left->a, n->b) || ir::equal(left->b, n->b)) return n->a;
  }
  return merge_limits(expr);
}

Expr simplify_not(const Expr& expr) {
  const Expr& x = expr.as<ir::Call>()->args[0];
  // not(not(x)) -> x
  const auto* inner = x.as<ir::Call>();
  if (inner != nullptr && inner->function == Intrinsic::Not) return inner->args[0];
  // not(a < b) -> a >= b; on floats only == and !=, which are inverses for NaN too
  const auto* n = x.as<ir::Binary>();
  if (n == nullptr) return expr;
  const auto op = inverse(n->op);
  if (!op) return expr;
  const bool is_equality = n->op == BinaryOp::Eq || n->op == BinaryOp::Ne;
  if (ir::is_float(n->a.type()) && !is_equality) return expr;
  return ir::binary(*op, n->a, n->b);
}

}  // namespace tilewright::arith
