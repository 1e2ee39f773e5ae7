#include "lower/loop_cut.h"

#include <algorithm>

#include "ir/fold.h"
#include "ir/visit.h"
#include "lower/linear_index.h"

namespace tilewright::lower {

using ir::BinaryOp;
using ir::Expr;

// The condition is written as factor * var + rest < 0 (or its negation), with the rest in an
// interval.
std::optional<LoopCut> cut_of(const Expr& condition, ir::VarId var, int64_t n,
                              const arith::Bounds& bounds) {
  const auto* node = condition.as<ir::Binary>();
  if (node == nullptr || node->a.type() != ir::kIndex) return {};
  const bool strict = node->op == BinaryOp::Lt || node->op == BinaryOp::Ge;
  if (!strict && node->op != BinaryOp::Le && node->op != BinaryOp::Gt) return {};
  LinearIndex form = linear_of(node->a - node->b);
  if (!strict) --form.constant;  // a <= b: a - b - 1 < 0
  const int64_t factor = form.coefficient_of(var);
  form.erase(var);
  const Expr rest = to_expr(form);
  const auto range = arith::interval_of(rest, bounds);
  if (factor == 0 || !range || ir::uses_var(rest, var)) return {};
  // Negative for every value of the rest before one end, for none from the other end on.
  LoopCut cut =
      factor > 0 ? LoopCut{-ir::floor_div(range->high, factor), -ir::floor_div(range->low, factor)}
                 : LoopCut{ir::floor_div(range->low, -factor) + 1,
                           ir::floor_div(range->high, -factor) + 1};
  cut.begin = std::clamp<int64_t>(cut.begin, 0, n);
  cut.end = std::clamp<int64_t>(cut.end, 0, n);
  const bool inside = cut.begin < cut.end || (cut.begin > 0 && cut.begin < n);
  return inside ? std::optional(cut) : std::nullopt;
}

LoopCut longest_between(std::vector<LoopCut> cuts, int64_t n) {
  std::ranges::sort(cuts, {}, &LoopCut::begin);
  cuts.push_back({n, n});
  LoopCut longest;
  int64_t from = 0;
  for (const LoopCut& cut : cuts) {
    if (cut.begin - from > longest.end - longest.begin) longest = {from, cut.begin};
    from = std::max(from, cut.end);
  }
  return longest;
}

}  // namespace tilewright::lower
