// The working form of the simplifier: an I64 expression as constant + sum of coefficient * atom. An
// atom is an expression that is not a sum (a variable, a quotient, a load, ...). For a vector the
// lane number is an atom too, so ramps need no separate rules:
//
//   ramp(i * 16 + 3, 2, 8)  =  16 * i + 2 * lane + 3,  lane in [0, 7]
//
// Terms are in order of first appearance. Numbers wrap like I64, so a form always equals the
// expression modulo 2^64. `exact` says that none wrapped, which division and comparison require.
#pragma once

#include <vector>

#include "arith/interval.h"
#include "ir/expr.h"

namespace tilewright::arith {

struct LinearTerm {
  ir::Expr atom;            // null: the lane
  int64_t coefficient = 0;  // never 0
  Interval range;           // of the atom

  bool is_lane() const { return !atom.defined(); }
  bool is_uniform() const { return atom.defined() && !atom.type().is_vector(); }
};

class Linear {
 public:
  int64_t constant = 0;
  std::vector<LinearTerm> terms;
  bool exact = true;

  void add_constant(int64_t value, int64_t times = 1);
  void add_term(const ir::Expr& atom, int64_t coefficient, const Interval& range);
  void add_lane(int64_t stride, unsigned lanes);
  void add(const Linear& other, int64_t times);

  bool is_constant() const { return terms.empty(); }
  bool is_uniform() const;  // the same in all lanes
  // The atom, if the form is exactly one atom; else null.
  const ir::Expr* as_atom() const;
  IntervalSum sum() const;
  Interval range() const { return exact ? sum().get() : kEverything; }
  bool may_wrap() const { return !exact || sum().may_wrap(); }

  // The canonical expression: the first positive term first, the others in order, the constant last
  // (`i * 4 + j - 1`), unless all terms are negative and the constant is positive (`7 - i`).
  // Returns `like`, which may be null, if it is that expression already.
  ir::Expr to_expr(unsigned lanes, const ir::Expr& like) const;

 private:
  ir::Expr to_scalar(const ir::Expr& like) const;
  ir::Expr to_vector(unsigned lanes) const;
};

}  // namespace tilewright::arith
