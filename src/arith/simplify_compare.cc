#include "arith/simplify_compare.h"

#include <numeric>
#include <optional>
#include <utility>

#include "ir/equal.h"
#include "ir/fold.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

Expr truth(bool value, unsigned lanes) {
  return ir::int_imm(value ? 1 : 0, ir::kBool.with_lanes(lanes));
}

// The value of `a op b` if the range of a - b decides it.
std::optional<bool> decide(BinaryOp op, const Interval& difference) {
  const bool below = difference.high < 0, above = difference.low > 0;
  const bool zero = difference.low == 0 && difference.high == 0;
  switch (op) {
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      if (zero) return op == BinaryOp::Eq;
      if (below || above) return op == BinaryOp::Ne;
      return std::nullopt;
    case BinaryOp::Lt:
    case BinaryOp::Ge:
      if (below) return op == BinaryOp::Lt;
      if (difference.low >= 0) return op == BinaryOp::Ge;
      return std::nullopt;
    case BinaryOp::Le:
    case BinaryOp::Gt:
      if (difference.high <= 0) return op == BinaryOp::Le;
      if (above) return op == BinaryOp::Gt;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool has_positive_term(const Linear& form) {
  for (const RangedTerm& term : form.terms) {
    if (term.coefficient > 0) return true;
  }
  return false;
}

int64_t common_factor(const Linear& form) {
  int64_t g = 0;
  for (const RangedTerm& term : form.terms) g = std::gcd(g, term.coefficient);
  return g;
}

Linear negated(const Linear& form) {
  Linear result;
  result.add(form, -1);
  return result;
}

// `form op 0` as `left op right`.
struct Sides {
  BinaryOp op;
  Linear left, right;
  bool ok = false;  // no number exceeded 64 bits
  std::optional<bool> known = std::nullopt;
};

Sides to_sides(BinaryOp op, const Linear& form) {
  Sides sides{op, {}, {}};
  sides.known = decide(op, form.range());  // smaller numbers may decide it
  for (const RangedTerm& term : form.terms) {
    if (term.coefficient > 0) {
      sides.left.add_term(term.atom, term.coefficient, term.range);
    } else {
      if (term.coefficient == INT64_MIN) return sides;
      sides.right.add_term(term.atom, -term.coefficient, term.range);
    }
  }
  sides.right.add_constant(form.constant, -1);
  // i < j + 1 -> i <= j   and   i >= j + 1 -> i > j
  if (!sides.right.is_constant() && sides.right.constant == 1 && op != BinaryOp::Eq &&
      op != BinaryOp::Ne) {
    sides.op = op == BinaryOp::Lt ? BinaryOp::Le : BinaryOp::Gt;
    sides.right.constant = 0;
  }
  sides.ok = !sides.left.may_wrap() && !sides.right.may_wrap();
  return sides;
}

// d op 0, for ordering, as n < 0 or n >= 0 without a common factor:
//   d <= 0 -> d - 1 < 0,   d > 0 -> d - 1 >= 0,   g*t + k < 0 -> t + floor(k / g) < 0
Sides normalize_order(BinaryOp op, Linear d) {
  if (op == BinaryOp::Le || op == BinaryOp::Gt) d.add_constant(-1);
  const bool strict = op == BinaryOp::Lt || op == BinaryOp::Le;
  BinaryOp normal = strict ? BinaryOp::Lt : BinaryOp::Ge;
  const int64_t g = common_factor(d);
  if (!d.exact || g <= 0) return {op, {}, {}};
  for (RangedTerm& term : d.terms) term.coefficient /= g;
  d.constant = ir::floor_div(d.constant, g);
  if (!has_positive_term(d)) {  // -i + 7 < 0 -> i - 8 >= 0
    d = negated(d);
    d.add_constant(-1);
    normal = strict ? BinaryOp::Ge : BinaryOp::Lt;
    if (!d.exact) return {op, {}, {}};
  }
  return to_sides(normal, d);
}

Sides normalize_equality(BinaryOp op, Linear d) {
  const int64_t g = common_factor(d);
  if (!d.exact || g <= 0) return {op, {}, {}};
  for (RangedTerm& term : d.terms) term.coefficient /= g;
  d.constant /= g;  // divisible, as the caller has checked
  if (!has_positive_term(d)) d = negated(d);
  return d.exact ? to_sides(op, d) : Sides{op, {}, {}};
}

}  // namespace

Expr compare_linear(const Expr& like, const Linear& a, const Linear& b, const Linear& difference) {
  const auto* n = like.as<ir::Binary>();
  const unsigned lanes = n->type.lanes;
  const bool is_equality = n->op == BinaryOp::Eq || n->op == BinaryOp::Ne;
  Sides sides{n->op, {}, {}};
  if (difference.exact && !a.may_wrap() && !b.may_wrap()) {
    if (const auto known = decide(n->op, difference.range())) return truth(*known, lanes);
    const int64_t g = common_factor(difference);
    if (is_equality && g > 1 && difference.constant % g != 0)
      return truth(n->op == BinaryOp::Ne, lanes);
    sides =
        is_equality ? normalize_equality(n->op, difference) : normalize_order(n->op, difference);
    if (sides.known) return truth(*sides.known, lanes);
  }
  Expr result = sides.ok ? make_binary(sides.op, sides.left, sides.right, like)
                         : make_binary(n->op, a, b, like);
  return result.type().lanes == lanes ? result : ir::broadcast(std::move(result), lanes);
}

Expr compare_narrow(const Expr& expr, const Bounds& bounds) {
  const auto* n = expr.as<ir::Binary>();
  if (!ir::is_integer(n->a.type())) return expr;
  if (ir::equal(n->a, n->b)) return truth(*decide(n->op, {0, 0}), n->type.lanes);
  IntervalSum difference;
  difference.add(1, range_of(n->a, bounds));
  difference.add(-1, range_of(n->b, bounds));
  const auto known = decide(n->op, difference.get());
  return known ? truth(*known, n->type.lanes) : expr;
}

}  // namespace tilewright::arith
