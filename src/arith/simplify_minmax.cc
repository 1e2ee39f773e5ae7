#include "arith/simplify_minmax.h"

#include <algorithm>
#include <utility>

#include "ir/equal.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

// The form as `op(x, c)` with a constant c, or null.
const ir::Binary* match_with_constant(const Linear& form, BinaryOp op) {
  const Expr* atom = form.as_atom();
  const auto* n = atom != nullptr ? atom->as<ir::Binary>() : nullptr;
  return n != nullptr && n->op == op && ir::as_int(n->b) != nullptr ? n : nullptr;
}

// Whether the form is `op(x, y)` and `other` is x or y.
bool has_operand(const Linear& form, BinaryOp op, const Linear& other, unsigned lanes) {
  const Expr* atom = form.as_atom();
  const auto* n = atom != nullptr ? atom->as<ir::Binary>() : nullptr;
  if (n == nullptr || n->op != op) return false;
  if (!n->type.is_vector() && !other.is_uniform()) return false;
  const Expr operand = other.to_expr(n->type.is_vector() ? lanes : 1, {});
  return ir::equal(n->a, operand) || ir::equal(n->b, operand);
}

}  // namespace

void add_min_max(const Expr& like, Linear a, Linear b, int64_t times, Linear& out) {
  const auto* n = like.as<ir::Binary>();
  const bool is_min = n->op == BinaryOp::Min;
  const unsigned lanes = n->type.lanes;
  if (a.is_constant() && !b.is_constant()) std::swap(a, b);  // min(c, x) -> min(x, c)
  Linear difference = a;
  difference.add(b, -1);
  if (difference.is_constant() && difference.constant == 0) return out.add(a, times);
  if (difference.exact && !a.may_wrap() && !b.may_wrap()) {
    const Interval range = difference.range();
    // a <= b:  min(a, b) -> a,  max(a, b) -> b
    if (range.high <= 0) return out.add(is_min ? a : b, times);
    if (range.low >= 0) return out.add(is_min ? b : a, times);
  }
  // min(min(x, y), y) -> min(x, y)
  if (has_operand(a, n->op, b, lanes)) return out.add(a, times);
  if (has_operand(b, n->op, a, lanes)) return out.add(b, times);
  const Interval range = is_min ? min(a.range(), b.range()) : max(a.range(), b.range());
  out.exact &= a.exact && b.exact;
  if (const auto* inner = b.is_constant() ? match_with_constant(a, n->op) : nullptr) {
    // min(min(x, c), d) -> min(x, min(c, d))
    const int64_t c = *ir::as_int(inner->b);
    const int64_t d = is_min ? std::min(c, b.constant) : std::max(c, b.constant);
    Expr merged = ir::binary(n->op, inner->a, ir::int_imm(d, inner->type));
    return out.add_term(merged, times, range);
  }
  out.add_term(make_binary(n->op, a, b, like), times, range);
}

void add_select(const Expr& like, Expr condition, const Linear& yes, const Linear& no,
                int64_t times, Linear& out) {
  const auto* n = like.as<ir::Select>();
  const unsigned lanes = n->type.lanes;
  Linear difference = yes;
  difference.add(no, -1);
  if (difference.is_constant() && difference.constant == 0) return out.add(yes, times);
  out.exact &= yes.exact && no.exact;
  const Interval range = hull(yes.range(), no.range());
  const auto* uniform = condition.as<ir::Broadcast>();
  if (uniform != nullptr && yes.is_uniform() && no.is_uniform()) {
    Expr atom = ir::select(uniform->value, yes.to_expr(1, {}), no.to_expr(1, {}));
    return out.add_term(atom, times, range);
  }
  Expr x = yes.to_expr(lanes, n->if_true), y = no.to_expr(lanes, n->if_false);
  const bool same =
      condition.same_as(n->condition) && x.same_as(n->if_true) && y.same_as(n->if_false);
  out.add_term(same ? like : ir::select(std::move(condition), std::move(x), std::move(y)), times,
               range);
}

}  // namespace tilewright::arith
