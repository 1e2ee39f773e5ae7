// LinearSum: constant + coefficient * atom + ..., the one form behind the simplifier
// (arith/linear.h), the indices of passes (lower/linear_index.h) and the addresses of accesses
// (codegen/llvm/addresses.h). An atom is an I64 expression that the owner does not decompose
// further.
//
//   (3 + 2*i + 1*(j/2))  plus  4 * (1 - i + k)  =  7 - 2*i + 1*(j/2) + 4*k
//
// A Term is a LinearTerm with additional data about its atom, such as a range or an id. It may hide
// `same_atom` with a faster test, and `precedes` to order terms other than by first appearance.
//
// No atom occurs twice and no coefficient is 0. Numbers wrap like I64, so a sum always equals its
// expression modulo 2^64; `exact` is true if none wrapped.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace tilewright::arith {

struct LinearTerm {
  ir::Expr atom;
  int64_t coefficient = 0;

  bool same_atom(const LinearTerm& other) const;
  static bool precedes(const LinearTerm&) { return false; }
};

template <class Term>
struct LinearSum {
  int64_t constant = 0;
  std::vector<Term> terms;
  bool exact = true;

  bool is_constant() const { return terms.empty(); }

  void add_constant(int64_t value, int64_t times = 1) {
    if (__builtin_add_overflow(constant, multiply(value, times), &constant)) exact = false;
  }

  // Terms of one atom become one, or none if they cancel.
  void add_term(Term term) {
    if (term.coefficient == 0) return;
    auto place = terms.begin();
    for (; place != terms.end(); ++place) {
      if (place->same_atom(term)) return increase(place, term.coefficient);
      if (term.precedes(*place)) break;
    }
    terms.insert(place, std::move(term));
  }

  void add(const LinearSum& other, int64_t times = 1) {
    exact &= other.exact;
    add_constant(other.constant, times);
    for (Term term : other.terms) {
      term.coefficient = multiply(term.coefficient, times);
      add_term(std::move(term));
    }
  }

  // The coefficient of the atom of `term`; 0 if the sum has no such term.
  int64_t coefficient_like(const Term& term) const {
    for (const Term& own : terms) {
      if (own.same_atom(term)) return own.coefficient;
    }
    return 0;
  }

  // a * b, which wraps.
  int64_t multiply(int64_t a, int64_t b) {
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) exact = false;
    return product;
  }

 private:
  void increase(typename std::vector<Term>::iterator term, int64_t by) {
    if (__builtin_add_overflow(term->coefficient, by, &term->coefficient)) exact = false;
    if (term->coefficient == 0) terms.erase(term);
  }
};

// One summand of a written sum: number * atom, or the number alone.
struct Summand {
  const ir::Expr* atom = nullptr;  // null: a constant
  int64_t number = 0;
};

// The summands in order, at least one; those with negative numbers, but the first, are subtracted.
//   2*i, -1*j, -3  ->  i * 2 - j - 3
ir::Expr write_sum(std::span<const Summand> summands, ir::Type type);
// True if `expr` equals the result of write_sum, with the same atoms.
bool is_written_as(std::span<const Summand> summands, const ir::Expr& expr);

}  // namespace tilewright::arith
