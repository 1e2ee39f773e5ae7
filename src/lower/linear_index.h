// LinearIndex: an index as a sum: constant + coefficient * factor + ... A factor is a variable or,
// if the index is not affine, any expression: a quotient, a remainder, a load. Every index has such
// a form, and equal sums of variables have equal forms. Passes use it to compare and split indices.
//
//   (i * 4 + 3) * 8 + j / 2 - i   ->   24 + 31 * i + 1 * (j / 2)
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr.h"
#include "ir/visit.h"

namespace tilewright::lower {

struct LinearTerm {
  ir::VarId var = 0;  // 0: the factor is not a variable
  int64_t coefficient = 0;
  ir::Expr factor;
};

struct LinearIndex {
  int64_t constant = 0;
  std::vector<LinearTerm> terms;  // variables by ascending id, then other factors; each once

  bool is_constant() const { return terms.empty(); }
  int64_t coefficient_of(ir::VarId var) const;
  // Adds a term; terms that cancel are removed.
  void add(const ir::Expr& factor, int64_t coefficient);
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
