#include "arith/linear.h"

#include <algorithm>
#include <span>

#include "ir/equal.h"

namespace tilewright::arith {

using ir::BinaryOp;
using ir::Expr;

namespace {

bool same_atom(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (!a.defined() || !b.defined() || a.kind() != b.kind()) return false;
  return ir::equal(a, b);
}

// One summand of the canonical expression: coefficient * atom, or a constant.
struct Summand {
  const Expr* atom = nullptr;  // null: a constant
  int64_t number = 0;
};

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

// Whether a summand after the first is written as `- |summand|`.
bool is_subtracted(const Summand& summand) {
  return summand.number < 0 && summand.number != INT64_MIN;
}

bool summand_is(const Summand& summand, int64_t number, const Expr& expr) {
  if (summand.atom == nullptr) {
    const auto* value = expr.as<ir::IntImm>();
    return value != nullptr && value->value == number;
  }
  if (number == 1) return summand.atom->same_as(expr);
  const auto* n = expr.as<ir::Binary>();
  if (n == nullptr || n->op != BinaryOp::Mul || !n->a.same_as(*summand.atom)) return false;
  const auto* value = n->b.as<ir::IntImm>();
  return value != nullptr && value->value == number;
}

// Whether `expr` is the sum of the summands, written as `write` would write it.
bool is_written_as(std::span<const Summand> summands, const Expr& expr) {
  const Expr* rest = &expr;
  for (size_t k = summands.size(); k-- > 1;) {
    const auto* n = rest->as<ir::Binary>();
    const bool subtracted = is_subtracted(summands[k]);
    const BinaryOp op = subtracted ? BinaryOp::Sub : BinaryOp::Add;
    if (n == nullptr || n->op != op) return false;
    const int64_t number = subtracted ? -summands[k].number : summands[k].number;
    if (!summand_is(summands[k], number, n->b)) return false;
    rest = &n->a;
  }
  return summand_is(summands[0], summands[0].number, *rest);
}

Expr write_summand(const Summand& summand, int64_t number, ir::Type type) {
  if (summand.atom == nullptr) return ir::int_imm(number, type);
  return number == 1 ? *summand.atom : *summand.atom * ir::int_imm(number, type);
}

Expr write(std::span<const Summand> summands, ir::Type type) {
  Expr sum = write_summand(summands[0], summands[0].number, type);
  for (const Summand& summand : summands.subspan(1)) {
    if (is_subtracted(summand)) {
      sum = std::move(sum) - write_summand(summand, -summand.number, type);
    } else {
      sum = std::move(sum) + write_summand(summand, summand.number, type);
    }
  }
  return sum;
}

}  // namespace

void Linear::add_constant(int64_t value, int64_t times) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, times, &product)) exact = false;
  if (__builtin_add_overflow(constant, product, &constant)) exact = false;
}

void Linear::add_term(const Expr& atom, int64_t coefficient, const Interval& range) {
  if (coefficient == 0) return;
  for (size_t k = 0; k < terms.size(); ++k) {
    LinearTerm& term = terms[k];
    if (!same_atom(term.atom, atom)) continue;
    if (__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient)) exact = false;
    if (term.coefficient == 0) terms.erase(terms.begin() + static_cast<ptrdiff_t>(k));
    return;
  }
  terms.push_back({atom, coefficient, range});
}

void Linear::add_lane(int64_t stride, unsigned lanes) {
  add_term({}, stride, {0, static_cast<int64_t>(lanes) - 1});
}

void Linear::add(const Linear& other, int64_t times) {
  exact &= other.exact;
  add_constant(other.constant, times);
  for (const LinearTerm& term : other.terms) {
    int64_t coefficient = 0;
    if (__builtin_mul_overflow(term.coefficient, times, &coefficient)) exact = false;
    add_term(term.atom, coefficient, term.range);
  }
}

bool Linear::is_uniform() const {
  return std::ranges::all_of(terms, [](const LinearTerm& term) { return term.is_uniform(); });
}

const Expr* Linear::as_atom() const {
  if (terms.size() != 1 || constant != 0 || terms[0].coefficient != 1) return nullptr;
  return terms[0].is_lane() ? nullptr : &terms[0].atom;
}

IntervalSum Linear::sum() const {
  IntervalSum sum;
  sum.add(constant);
  for (const LinearTerm& term : terms) sum.add(term.coefficient, term.range);
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
  for (const LinearTerm& term : terms) summands.push_back({&term.atom, term.coefficient});
  order_summands(summands, constant);
  return like.defined() && is_written_as(summands, like) ? like : write(summands, ir::kIndex);
}

// The vector atoms, then what is uniform and the lane as one ramp or broadcast.
Expr Linear::to_vector(unsigned lanes) const {
  Linear uniform;
  int64_t stride = 0;
  std::vector<Summand> summands;
  for (const LinearTerm& term : terms) {
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
  return write(summands, ir::kIndex.with_lanes(lanes));
}

}  // namespace tilewright::arith
