// The number of arithmetic operations of an operator (specs §1.3): for each output element the
// binary, unary and function nodes of the sort of its accumulator (float, or that very integer
// type), times the reduce extent and with the combiner where there is a reduction. Casts, loads and
// index arithmetic cost nothing; an fma is two; a select costs its condition and its dearer arm.
//
//   sum over k of A[i, k] * B[k, j]   ->   2 per (i, j, k)
#pragma once

#include "te/dag.h"

namespace tilewright::te {

double count_flop(const Op& op);  // the flop hint when there is one

}  // namespace tilewright::te
