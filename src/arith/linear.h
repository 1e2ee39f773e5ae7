// The working form of the simplifier: an I64 expression as a LinearSum, with the range of each
// atom. An atom is an expression that is not a sum (a variable, a quotient, a load, ...). For a
// vector the lane number is an atom too, so ramps need no separate rules:
//
//   ramp(i * 16 + 3, 2, 8)  =  16 * i + 2 * lane + 3,  lane in [0, 7]
//
// Terms are in order of first appearance. Division and comparison require that the form is `exact`.
#pragma once

#include "arith/interval.h"
#include "arith/linear_sum.h"
#include "ir/expr.h"

namespace tilewright::arith {

struct RangedTerm : LinearTerm {  // a null atom is the lane
  Interval range;                 // of the atom

  bool is_lane() const { return !atom.defined(); }
  bool is_uniform() const { return atom.defined() && !atom.type().is_vector(); }
};

class Linear : public LinearSum<RangedTerm> {
 public:
  void add_term(const ir::Expr& atom, int64_t coefficient, const Interval& range) {
    LinearSum::add_term({{atom, coefficient}, range});
  }
  void add_lane(int64_t stride, unsigned lanes);

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

// `op(a, b)` of I64 operands given as forms, with the lanes of `like`; a scalar if both are
// uniform. Returns `like` if it is that expression already.
ir::Expr make_binary(ir::BinaryOp op, const Linear& a, const Linear& b, const ir::Expr& like);

}  // namespace tilewright::arith
