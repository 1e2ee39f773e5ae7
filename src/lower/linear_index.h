// An index as a LinearSum. An atom is a variable or a subexpression that is not affine: a quotient,
// a remainder, a load. Every index has such a form, and equal sums of variables have equal forms,
// so passes use it to compare and split indices.
//
//   (i * 4 + 3) * 8 + j / 2 - i   ->   24 + 31 * i + 1 * (j / 2)
#pragma once

#include <cstdint>

#include "arith/linear_sum.h"
#include "ir/expr.h"
#include "ir/visit.h"

namespace tilewright::lower {

struct IndexTerm : arith::LinearTerm {
  ir::VarId var = 0;  // the atom; 0: not a variable

  bool same_atom(const IndexTerm& other) const {
    return var == other.var && (var != 0 || LinearTerm::same_atom(other));
  }
  bool precedes(const IndexTerm& other) const {
    return var != 0 && (other.var == 0 || var < other.var);
  }
};

// Variables by ascending id, then other atoms.
struct LinearIndex : arith::LinearSum<IndexTerm> {
  using LinearSum::add_term;
  void add_term(const ir::Expr& atom, int64_t coefficient);
  int64_t coefficient_of(ir::VarId var) const;
  void erase(ir::VarId var);  // drops the term of a variable
};

// The form of a scalar I64 expression after replacing variables by `values` (may be null).
LinearIndex linear_of(const ir::Expr& index, const ir::Substitution* values = nullptr);

// The sum as an expression: terms in order, then the constant.
ir::Expr to_expr(const LinearIndex& index);

// Equal except for the constant.
bool same_terms(const LinearIndex& a, const LinearIndex& b);

// linear_of and to_expr. A Ramp keeps its stride; in other vectors, variables are only substituted.
ir::Expr canonical_index(const ir::Expr& index, const ir::Substitution* values = nullptr);

}  // namespace tilewright::lower
