#include "arith/affine.h"

#include <algorithm>

#include "ir/fold.h"

namespace tilewright::arith {
namespace {

using ir::BinaryOp;
using ir::Expr;

// total += a * b; false when that leaves 64 bits.
bool add_product(int64_t& total, int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(total, product, &total);
}

bool accumulate(const Expr& expr, int64_t factor, Affine& out);

// c*q + r, where every coefficient of q's form is a multiple of the positive c and 0 <= r < c:
// the division gives q, the modulo r.
bool accumulate_division(const Expr& dividend, int64_t c, bool modulo, int64_t factor,
                         Affine& out) {
  Affine form;
  if (c <= 0 || !accumulate(dividend, 1, form)) return false;
  for (Term& term : form.terms) {
    if (term.coefficient % c != 0) return false;
    term.coefficient /= c;
  }
  if (modulo) return add_product(out.constant, ir::floor_mod(form.constant, c), factor);
  form.constant = ir::floor_div(form.constant, c);
  return out.add(form, factor);
}

// out += factor * expr.
bool accumulate(const Expr& expr, int64_t factor, Affine& out) {
  if (const int64_t* value = ir::as_int(expr)) return add_product(out.constant, *value, factor);
  if (const auto* v = expr.as<ir::Var>()) return out.add_term(v->id, factor);
  const auto* n = expr.as<ir::Binary>();
  if (n == nullptr) return false;
  switch (n->op) {
    case BinaryOp::Add:
      return accumulate(n->a, factor, out) && accumulate(n->b, factor, out);
    case BinaryOp::Sub:
      return factor != INT64_MIN && accumulate(n->a, factor, out) && accumulate(n->b, -factor, out);
    case BinaryOp::Mul: {
      Affine a, b;
      if (!accumulate(n->a, 1, a) || !accumulate(n->b, 1, b)) return false;
      if (!a.is_constant() && !b.is_constant()) return false;
      const Affine& form = b.is_constant() ? a : b;
      int64_t times = 0;
      const int64_t number = b.is_constant() ? b.constant : a.constant;
      return !__builtin_mul_overflow(number, factor, &times) && out.add(form, times);
    }
    case BinaryOp::Div:
    case BinaryOp::Mod: {
      const int64_t* divisor = ir::as_int(n->b);
      return divisor != nullptr &&
             accumulate_division(n->a, *divisor, n->op == BinaryOp::Mod, factor, out);
    }
    default:
      return false;
  }
}

}  // namespace

int64_t Affine::coefficient_of(uint32_t var) const {
  const Term* found = std::ranges::lower_bound(terms, var, {}, &Term::var);
  return found != terms.end() && found->var == var ? found->coefficient : 0;
}

bool Affine::add_term(uint32_t var, int64_t coefficient) {
  if (coefficient == 0) return true;
  size_t position = terms.size();  // usually the end: forms are few terms, added in order
  while (position > 0 && terms[position - 1].var > var) --position;
  if (position > 0 && terms[position - 1].var == var) {
    Term& found = terms[position - 1];
    if (__builtin_add_overflow(found.coefficient, coefficient, &found.coefficient)) return false;
    if (found.coefficient == 0) terms.erase_at(position - 1);
    return true;
  }
  if (terms.full()) return false;
  if (position == terms.size()) {
    terms.push_back({var, coefficient});
  } else {
    terms.insert_at(position, {var, coefficient});
  }
  return true;
}

bool Affine::add(const Affine& other, int64_t times) {
  if (!add_product(constant, other.constant, times)) return false;
  for (const Term& term : other.terms) {
    int64_t coefficient = 0;
    if (__builtin_mul_overflow(term.coefficient, times, &coefficient)) return false;
    if (!add_term(term.var, coefficient)) return false;
  }
  return true;
}

void Affine::scale(int64_t factor) {
  if (factor == 0) terms.clear();
  bool overflow = __builtin_mul_overflow(constant, factor, &constant);
  for (Term& term : terms) {
    overflow |= __builtin_mul_overflow(term.coefficient, factor, &term.coefficient);
  }
  CHECK(!overflow, "affine form times {} leaves 64 bits", factor);
}

std::optional<Affine> affine_of(const Expr& expr) {
  Affine form;
  if (expr.type() != ir::kIndex || !accumulate(expr, 1, form)) return std::nullopt;
  return form;
}

}  // namespace tilewright::arith
