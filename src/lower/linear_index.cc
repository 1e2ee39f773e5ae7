#include "lower/linear_index.h"

#include <algorithm>
#include <vector>

#include "ir/fold.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

void accumulate(LinearIndex& sum, const Expr& expr, int64_t factor, const ir::Substitution* values);

void accumulate_opaque(LinearIndex& sum, const Expr& expr, int64_t factor,
                       const ir::Substitution* values) {
  const Expr replaced = values == nullptr ? expr : ir::substitute(expr, *values);
  if (const int64_t* value = ir::as_int(replaced)) {
    sum.add_constant(*value, factor);
  } else {
    sum.add_term(replaced, factor);
  }
}

// Exact quotients and remainders stay linear: (8 * i + 4) / 4 -> 2 * i + 1.
bool accumulate_division(LinearIndex& sum, const ir::Binary& node, int64_t factor,
                         const ir::Substitution* values) {
  const int64_t* divisor = ir::as_int(node.b);
  if (divisor == nullptr || *divisor <= 0) return false;
  LinearIndex a = linear_of(node.a, values);
  const auto divides = [&](const IndexTerm& term) { return term.coefficient % *divisor == 0; };
  if (!std::ranges::all_of(a.terms, divides)) return false;
  if (node.op == BinaryOp::Mod) {
    sum.add_constant(ir::floor_mod(a.constant, *divisor), factor);
    return true;
  }
  a.constant = ir::floor_div(a.constant, *divisor);
  for (IndexTerm& term : a.terms) term.coefficient /= *divisor;
  sum.add(a, factor);
  return true;
}

bool accumulate_product(LinearIndex& sum, const ir::Binary& node, int64_t factor,
                        const ir::Substitution* values) {
  if (const int64_t* b = ir::as_int(node.b)) {
    accumulate(sum, node.a, sum.multiply(factor, *b), values);
    return true;
  }
  if (const int64_t* a = ir::as_int(node.a)) {
    accumulate(sum, node.b, sum.multiply(factor, *a), values);
    return true;
  }
  if (values == nullptr) return false;
  const LinearIndex a = linear_of(node.a, values);
  const LinearIndex b = linear_of(node.b, values);
  if (!a.is_constant() && !b.is_constant()) return false;
  const int64_t number = a.is_constant() ? a.constant : b.constant;
  sum.add(a.is_constant() ? b : a, sum.multiply(factor, number));
  return true;
}

void accumulate(LinearIndex& sum, const Expr& expr, int64_t factor,
                const ir::Substitution* values) {
  if (const auto* number = expr.as<ir::IntImm>()) {
    return sum.add_constant(number->value, factor);
  }
  if (const auto* variable = expr.as<ir::Var>()) {
    if (values != nullptr) {
      const auto found = values->find(variable->id);
      if (found != values->end()) return accumulate(sum, found->second, factor, nullptr);
    }
    return sum.add_term(expr, factor);
  }
  if (const auto* node = expr.as<ir::Binary>()) {
    switch (node->op) {
      case BinaryOp::Add:
        accumulate(sum, node->a, factor, values);
        return accumulate(sum, node->b, factor, values);
      case BinaryOp::Sub:
        accumulate(sum, node->a, factor, values);
        return accumulate(sum, node->b, sum.multiply(factor, -1), values);
      case BinaryOp::Mul:
        if (accumulate_product(sum, *node, factor, values)) return;
        break;
      case BinaryOp::Div:
      case BinaryOp::Mod:
        if (accumulate_division(sum, *node, factor, values)) return;
        break;
      default:
        break;
    }
  }
  accumulate_opaque(sum, expr, factor, values);
}

}  // namespace

int64_t LinearIndex::coefficient_of(ir::VarId var) const {
  for (const IndexTerm& term : terms) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

void LinearIndex::add_term(const Expr& atom, int64_t coefficient) {
  const auto* variable = atom.as<ir::Var>();
  add_term({{atom, coefficient}, variable == nullptr ? 0 : variable->id});
}

void LinearIndex::erase(ir::VarId var) {
  std::erase_if(terms, [var](const IndexTerm& term) { return term.var == var; });
}

LinearIndex linear_of(const Expr& index, const ir::Substitution* values) {
  LinearIndex sum;
  accumulate(sum, index, 1, values);
  return sum;
}

Expr to_expr(const LinearIndex& index) {
  std::vector<arith::Summand> summands;
  summands.reserve(index.terms.size() + 1);
  for (const IndexTerm& term : index.terms) summands.push_back({&term.atom, term.coefficient});
  if (index.constant != 0 || index.is_constant()) summands.push_back({nullptr, index.constant});
  return arith::write_sum(summands, ir::kIndex);
}

bool same_terms(const LinearIndex& a, const LinearIndex& b) {
  return std::ranges::equal(a.terms, b.terms, [](const IndexTerm& x, const IndexTerm& y) {
    return x.coefficient == y.coefficient && x.same_atom(y);
  });
}

Expr canonical_index(const Expr& index, const ir::Substitution* values) {
  if (index.as<ir::IntImm>() != nullptr) return index;
  if (!index.type().is_vector()) return to_expr(linear_of(index, values));
  if (const auto* ramp = index.as<ir::Ramp>()) {
    return ir::ramp(canonical_index(ramp->base, values), ramp->stride, index.type().lanes);
  }
  return values == nullptr ? index : ir::substitute(index, *values);
}

}  // namespace tilewright::lower
