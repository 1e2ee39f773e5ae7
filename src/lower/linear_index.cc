#include "lower/linear_index.h"

#include <algorithm>

#include "ir/equal.h"
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
    sum.constant += factor * *value;
  } else {
    sum.add(replaced, factor);
  }
}

// Exact quotients and remainders stay linear: (8 * i + 4) / 4 -> 2 * i + 1.
bool accumulate_division(LinearIndex& sum, const ir::Binary& node, int64_t factor,
                         const ir::Substitution* values) {
  const int64_t* divisor = ir::as_int(node.b);
  if (divisor == nullptr || *divisor <= 0) return false;
  LinearIndex a = linear_of(node.a, values);
  const auto divides = [&](const LinearTerm& term) { return term.coefficient % *divisor == 0; };
  if (!std::ranges::all_of(a.terms, divides)) return false;
  if (node.op == BinaryOp::Mod) {
    sum.constant += factor * ir::floor_mod(a.constant, *divisor);
    return true;
  }
  sum.constant += factor * ir::floor_div(a.constant, *divisor);
  for (const LinearTerm& term : a.terms) {
    sum.add(term.factor, factor * (term.coefficient / *divisor));
  }
  return true;
}

bool accumulate_product(LinearIndex& sum, const ir::Binary& node, int64_t factor,
                        const ir::Substitution* values) {
  if (const int64_t* b = ir::as_int(node.b)) {
    accumulate(sum, node.a, factor * *b, values);
    return true;
  }
  if (const int64_t* a = ir::as_int(node.a)) {
    accumulate(sum, node.b, factor * *a, values);
    return true;
  }
  if (values == nullptr) return false;
  const LinearIndex a = linear_of(node.a, values);
  const LinearIndex b = linear_of(node.b, values);
  if (!a.is_constant() && !b.is_constant()) return false;
  const LinearIndex& rest = a.is_constant() ? b : a;
  const int64_t times = factor * (a.is_constant() ? a.constant : b.constant);
  sum.constant += times * rest.constant;
  for (const LinearTerm& term : rest.terms) sum.add(term.factor, times * term.coefficient);
  return true;
}

void accumulate(LinearIndex& sum, const Expr& expr, int64_t factor,
                const ir::Substitution* values) {
  if (const auto* number = expr.as<ir::IntImm>()) {
    sum.constant += factor * number->value;
    return;
  }
  if (const auto* variable = expr.as<ir::Var>()) {
    if (values != nullptr) {
      const auto found = values->find(variable->id);
      if (found != values->end()) return accumulate(sum, found->second, factor, nullptr);
    }
    return sum.add(expr, factor);
  }
  if (const auto* node = expr.as<ir::Binary>()) {
    switch (node->op) {
      case BinaryOp::Add:
        accumulate(sum, node->a, factor, values);
        return accumulate(sum, node->b, factor, values);
      case BinaryOp::Sub:
        accumulate(sum, node->a, factor, values);
        return accumulate(sum, node->b, -factor, values);
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

bool same_factor(const LinearTerm& a, const LinearTerm& b) {
  return a.var == b.var && (a.var != 0 || ir::equal(a.factor, b.factor));
}

}  // namespace

int64_t LinearIndex::coefficient_of(ir::VarId var) const {
  for (const LinearTerm& term : terms) {
    if (term.var == var) return term.coefficient;
  }
  return 0;
}

void LinearIndex::add(const Expr& factor, int64_t coefficient) {
  if (coefficient == 0) return;
  const auto* variable = factor.as<ir::Var>();
  const LinearTerm term{variable == nullptr ? 0 : variable->id, coefficient, factor};
  auto place = terms.begin();
  for (; place != terms.end(); ++place) {
    if (same_factor(*place, term)) {
      place->coefficient += coefficient;
      if (place->coefficient == 0) terms.erase(place);
      return;
    }
    if (term.var != 0 && (place->var == 0 || place->var > term.var)) break;
  }
  terms.insert(place, term);
}

void LinearIndex::erase(ir::VarId var) {
  std::erase_if(terms, [var](const LinearTerm& term) { return term.var == var; });
}

LinearIndex linear_of(const Expr& index, const ir::Substitution* values) {
  LinearIndex sum;
  accumulate(sum, index, 1, values);
  return sum;
}

Expr to_expr(const LinearIndex& index) {
  Expr sum;
  for (const LinearTerm& term : index.terms) {
    const bool subtract = sum.defined() && term.coefficient < 0;
    const int64_t times = subtract ? -term.coefficient : term.coefficient;
    Expr scaled = times == 1 ? term.factor : term.factor * times;
    if (!sum.defined()) {
      sum = std::move(scaled);
    } else {
      sum = subtract ? std::move(sum) - std::move(scaled) : std::move(sum) + std::move(scaled);
    }
  }
  if (!sum.defined()) return ir::int_imm(index.constant);
  if (index.constant == 0) return sum;
  return index.constant > 0 ? std::move(sum) + index.constant : std::move(sum) - -index.constant;
}

bool same_terms(const LinearIndex& a, const LinearIndex& b) {
  if (a.terms.size() != b.terms.size()) return false;
  for (size_t k = 0; k < a.terms.size(); ++k) {
    if (a.terms[k].coefficient != b.terms[k].coefficient) return false;
    if (!same_factor(a.terms[k], b.terms[k])) return false;
  }
  return true;
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
