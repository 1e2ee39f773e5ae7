// Keeps elements that a loop updates in place in registers during the loop. Applies to the
// outermost serial loop in which all accesses to the buffer have invariant indices, equal or
// disjoint, and happen in every iteration; at most 32 registers per loop.
//
//   for k < 64: C[p] = fma(A[k], B[k], C[p])   ->   C.0[0] = C[p]
//                                                   for k < 64: C.0[0] = fma(A[k], B[k], C.0[0])
//                                                   C[p] = C.0[0]
//
// A masked last vector is an accumulator too: its mask moves out of the loop (lane_mask.h).
// An element whose first access is a store is not loaded before the loop.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void hoist_accumulators(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
