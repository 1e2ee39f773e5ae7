// ValueSet: what the elements of a tensor can be, by an interval and a grid, and whether every
// schedule computes them to the same bits. The rules of arithmetic on such sets; pure functions.
//
//   integers in [-8, 8], summed 512 times in f32: multiples of 2^0 in [-4096, 4096], exact, since
//   4096 / 2^0 <= 2^24: no partial sum is rounded, whatever the order
//
// Integer arithmetic wraps and is exact in any order. Float arithmetic is exact while the result
// fits the mantissa on its grid. Rounding a value once, on a cast to a narrower float, is the same
// for all and leaves it on its grid: it keeps what is exact exact, but for an overflow.
#pragma once

#include "ir/expr.h"

namespace tilewright::oracle {

struct ValueSet {
  double low = 0, high = 0;
  int grid = 0;       // elements are multiples of 2^grid; of meaning only when exact
  bool exact = true;  // the same bits in every schedule

  bool operator==(const ValueSet&) const = default;
};

ValueSet constant_set(double value);
ValueSet type_set(ir::Scalar type);  // all integers of the type; floats: everything, not exact
ValueSet join(const ValueSet& a, const ValueSet& b);

// `hazard` is set where an operand may leave the domain of the operation: a division by zero, the
// logarithm of a negative number; where a float may overflow.
// `same`: both operands are one expression, so that x * x is not negative.
ValueSet binary_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b,
                    bool same, bool& hazard);
ValueSet call_set(ir::Intrinsic function, ir::Scalar type, const ValueSet& x, const ValueSet& y,
                  bool& hazard);
ValueSet cast_set(ir::Scalar to, const ValueSet& x, ir::Scalar from, bool& hazard);
// `count` elements folded in any order by Add, Mul, Min, Max, And or Or.
ValueSet fold_set(ir::BinaryOp op, ir::Scalar type, const ValueSet& x, double count, bool& hazard);

}  // namespace tilewright::oracle
