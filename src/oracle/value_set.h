// ValueSet: the possible values of the elements of a tensor, as an interval and a grid, and whether
// every schedule computes the same bits. Defines arithmetic on such sets; pure functions.
//
//   integers in [-8, 8], summed 512 times in f32: multiples of 2^0 in [-4096, 4096], exact, since
//   4096 / 2^0 <= 2^24: no partial sum is rounded, whatever the order
//
// Integer arithmetic wraps and is exact in any order. Float arithmetic is exact while the result
// fits the mantissa on its grid. Rounding a value once, in a cast to a narrower float, is the same
// for all schedules and leaves it on its grid: exact values stay exact unless they overflow.
#pragma once

#include "ir/expr.h"

namespace tilewright::oracle {

struct ValueSet {
  double low = 0, high = 0;
  int grid = 0;       // elements are multiples of 2^grid; meaningful only if exact
  bool exact = true;  // the same bits in every schedule

  bool operator==(const ValueSet&) const = default;
};

ValueSet constant_set(double value);
// Integers: all values of the type; floats: all values, not exact.
ValueSet type_set(ir::Scalar type);
ValueSet join(const ValueSet& a, const ValueSet& b);

// Sets `hazard` if an operand may leave the domain of the operation (division by zero, logarithm of
// a negative number) or a float may overflow. `same`: both operands are the same expression, so x *
// x is not negative.
ValueSet binary_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b,
                    bool same, bool& hazard);
ValueSet call_set(ir::Intrinsic function, ir::Scalar type, const ValueSet& x, const ValueSet& y,
                  bool& hazard);
ValueSet cast_set(ir::Scalar to, const ValueSet& x, ir::Scalar from, bool& hazard);
// `count` elements folded in any order by Add, Mul, Min, Max, And or Or.
ValueSet fold_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& x, double count, bool& hazard);

}  // namespace tilewright::oracle
