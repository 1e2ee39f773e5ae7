// The working form of the simplifier: an I64 expression as constant + sum of coefficient * atom,
// where an atom is an expression that is no sum (a variable, a quotient, a load...). For a vector
// the number of the lane is one more atom, so ramps need no rules of their own:
//
//   ramp(i * 16 + 3, 2, 8)  =  16 * i + 2 * lane + 3,  lane in [0, 7]
//
// Terms stand in the order of their first appearance. Numbers wrap like I64 itself, so a form
// always has the value of the expression modulo 2^64; `exact` says that none did wrap, which
// whatever divides or compares needs to know.
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
  // The only atom, when the form is that atom and nothing else.
  const ir::Expr* as_atom() const;
  IntervalSum sum() const;
  Interval range() const { return exact ? sum().get() : kEverything; }
  bool may_wrap() const { return !exact || sum().may_wrap(); }

  // The canonical expression: the first positive term first, the rest in order, the constant last
  // (`i * 4 + j - 1`), unless every term is negative and the constant is not (`7 - i`). It is
  // `like` itself, which may be null, if that is it already.
  ir::Expr to_expr(unsigned lanes, const ir::Expr& like) const;

 private:
  ir::Expr to_scalar(const ir::Expr& like) const;
  ir::Expr to_vector(unsigned lanes) const;
};

}  // namespace tilewright::arith
