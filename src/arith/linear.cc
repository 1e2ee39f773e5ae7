#include "arith/linear.h"

#include <algorithm>
#include <vector>

#include "ir/equal.h"

namespace tilewright::arith {

using ir::Expr;

namespace {

// Orders the summands so that a difference starts with a positive one if possible.
void order_summands(std::vector<Summand>& summands, int64_t constant) {
  const auto positive =
      std::ranges::find_if(summands, [](const Summand& summand) { return summand.number > 0; });
  if (positive != summands.end()) std::rotate(summands.begin(), positive, positive + 1);
  if (positive == summands.end() && constant > 0) {
    summands.insert(summands.begin(), Summand{nullptr, constant});
  } else if (constant != 0 || summands.empty()) {
    summands.push_back({nullptr, constant});
  }
}

}  // namespace

void Linear::add_lane(int64_t stride, unsigned lanes) {
  add_term({}, stride, {0, static_cast<int64_t>(lanes) - 1});
}

bool Linear::is_uniform() const {
  return std::ranges::all_of(terms, [](const RangedTerm& term) { return term.is_uniform(); });
}

const Expr* Linear::as_atom() const {
  if (terms.size() != 1 || constant != 0 || terms[0].coefficient != 1) return nullptr;
  return terms[0].is_lane() ? nullptr : &terms[0].atom;
}

IntervalSum Linear::sum() const {
  IntervalSum sum;
  sum.add(constant);
  for (const RangedTerm& term : terms) sum.add(term.coefficient, term.range);
  return sum;
}

Expr Linear::to_expr(unsigned lanes, const Expr& like) const {
  if (lanes == 1) return to_scalar(like);
  Expr result = to_vector(lanes);
  return like.defined() && ir::equal(result, like) ? like : result;
}

Expr Linear::to_scalar(const Expr& like) const {
  if (const Expr* atom = as_atom()) return *atom;
  std::vector<Summand> summands;
  summands.reserve(terms.size() + 1);
  for (const RangedTerm& term : terms) summands.push_back({&term.atom, term.coefficient});
  order_summands(summands, constant);
  return like.defined() && is_written_as(summands, like) ? like : write_sum(summands, ir::kIndex);
}

// The vector atoms, then the uniform terms and the lane as one ramp or broadcast.
Expr Linear::to_vector(unsigned lanes) const {
  Linear uniform;
  int64_t stride = 0;
  std::vector<Summand> summands;
  for (const RangedTerm& term : terms) {
    if (term.is_lane()) {
      stride = term.coefficient;
    } else if (term.is_uniform()) {
      uniform.terms.push_back(term);
    } else {
      summands.push_back({&term.atom, term.coefficient});
    }
  }
  uniform.constant = constant;
  const bool only_atoms = uniform.is_constant() && uniform.constant == 0 && stride == 0;
  Expr rest;
  if (!only_atoms || summands.empty()) {
    const Expr base = uniform.to_scalar({});
    rest = stride == 0 ? ir::broadcast(base, lanes) : ir::ramp(base, stride, lanes);
    if (summands.empty()) return rest;
  }
  order_summands(summands, 0);
  const Summand rest_piece{&rest, 1};
  if (rest.defined()) {
    summands.insert(summands[0].number > 0 ? summands.end() : summands.begin(), rest_piece);
  }
  return write_sum(summands, ir::kIndex.with_lanes(lanes));
}

Expr make_binary(ir::BinaryOp op, const Linear& a, const Linear& b, const Expr& like) {
  const unsigned lanes = like.type().lanes;
  if (lanes > 1 && a.is_uniform() && b.is_uniform()) {
    return ir::binary(op, a.to_expr(1, {}), b.to_expr(1, {}));
  }
  const auto* n = like.as<ir::Binary>();
  Expr x = a.to_expr(lanes, n->a), y = b.to_expr(lanes, n->b);
  if (n->op == op && x.same_as(n->a) && y.same_as(n->b)) return like;
  return ir::binary(op, std::move(x), std::move(y));
}

}  // namespace tilewright::arith
