// The FLOP of an operator, counted as Ansor counts them (Zheng et al., OSDI 2020): per output
// element the binary, unary and function nodes of the type of its accumulator (any float, or the
// same integer type), times the extents of the reduce axes, plus the combiner of the reduction.
// Casts, loads and index arithmetic are free; an fma is two; a select costs its condition and its
// more expensive arm.
//
//   sum over k of A[i, k] * B[k, j]   ->   2 per (i, j, k)
#pragma once

#include "te/dag.h"

namespace tilewright::te {

double count_flop(const Op& op);  // the FLOP hint, if there is one

}  // namespace tilewright::te
