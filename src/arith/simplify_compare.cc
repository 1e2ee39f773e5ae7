// Comparisons. Those of I64 are decided by the range of the difference a - b, in which common terms
// have cancelled, or brought to one form: positive terms left, the others right, the constant on
// the right, no common factor.
//
//   i * 4 + 3 < j * 4 + 16  ->  i < j + 4       7 < i  ->  i >= 8       2*i == 5  ->  false
#include <numeric>

#include "arith/simplifier.h"
#include "ir/equal.h"
#include "ir/fold.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

Expr truth(bool value, unsigned lanes) {
  return ir::int_imm(value ? 1 : 0, ir::kBool.with_lanes(lanes));
}

// What the range of a - b says of `a op b`.
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
  bool ok = false;  // no number left 64 bits
  std::optional<bool> known = std::nullopt;
};

Sides to_sides(BinaryOp op, const Linear& form) {
  Sides sides{op, {}, {}};
  sides.known = decide(op, form.range());  // smaller numbers may tell what larger ones did not
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
  d.constant /= g;  // divisible: the caller has looked
  if (!has_positive_term(d)) d = negated(d);
  return d.exact ? to_sides(op, d) : Sides{op, {}, {}};
}

}  // namespace

Expr Simplifier::compare(const Expr& expr) {
  const auto* n = expr.as<ir::Binary>();
  const unsigned lanes = n->type.lanes;
  const Linear a = linear(n->a), b = linear(n->b);
  Linear d = a;
  d.add(b, -1);
  while (merge_div_and_mod(d)) {
  }
  const bool is_equality = n->op == BinaryOp::Eq || n->op == BinaryOp::Ne;
  Sides sides{n->op, {}, {}};
  if (d.exact && !a.may_wrap() && !b.may_wrap()) {
    if (const auto known = decide(n->op, d.range())) return truth(*known, lanes);
    const int64_t g = common_factor(d);
    if (is_equality && g > 1 && d.constant % g != 0) return truth(n->op == BinaryOp::Ne, lanes);
    sides = is_equality ? normalize_equality(n->op, d) : normalize_order(n->op, d);
    if (sides.known) return truth(*sides.known, lanes);
  }
  Expr result = sides.ok ? make_binary(sides.op, sides.left, sides.right, expr)
                         : make_binary(n->op, a, b, expr);
  return result.type().lanes == lanes ? result : ir::broadcast(std::move(result), lanes);
}

Expr Simplifier::compare_generic(const Expr& expr) {
  Expr result = generic(expr);
  const auto* n = result.as<ir::Binary>();
  if (n == nullptr || !ir::is_integer(n->a.type())) return result;
  if (ir::equal(n->a, n->b)) return truth(*decide(n->op, {0, 0}), n->type.lanes);
  IntervalSum difference;
  difference.add(1, range_of(n->a, bounds_));
  difference.add(-1, range_of(n->b, bounds_));
  const auto known = decide(n->op, difference.get());
  return known ? truth(*known, n->type.lanes) : result;
}

}  // namespace tilewright::arith
