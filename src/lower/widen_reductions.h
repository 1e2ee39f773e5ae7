// Hoists reductions over lanes out of loops: a loop that folds a reduced vector into an element
// folds the vectors into a vector register instead, which is reduced once after the loop. Sums and
// products of floats require the permission `reassociate`. At most 16 registers per loop (28 of
// 32), one per statement; registers of the same element are combined before their lanes are
// reduced.
//
//   for k < 8:                                       S.0[0] = x16(0.0)
//     S[i] = S[i] + reduce(+, A[ramp(k * 16, ...)])  ->  for k < 8: S.0[0] = S.0[0] + A[ramp(...)]
//                                                    S[i] = S[i] + reduce(+, S.0[0])
//
// Reductions into one element that follow each other, as the vectors of a short row do, fold their
// vectors first.
//
//   S[i] = S[i] + reduce(+, A[ramp(0)])   ->  S[i] = S[i] + reduce(+, A[ramp(0)] + A[ramp(16)])
//   S[i] = S[i] + reduce(+, A[ramp(16)])
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void widen_reductions(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
