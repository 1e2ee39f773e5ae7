// Converts Vectorized loops of constant extent to vector code with the vector width of the target:
// whole vectors first (an Unrolled loop of them if there are several), then the rest: one vector
// with a mask where the target has masks and no lane may trap, else smaller powers of two. 7
// iterations with vectors of 8 become 7 of 8 lanes, or lanes 4 + 2 + 1. The width is that of the
// widest element loaded or stored in the loop.
//
//   vectorize for j < 32: C[j] = A[i] * B[j]   with 16 lanes   ->
//     unroll for j < 2: C[ramp(j * 16, 1, 16)] = x16(A[i]) * B[ramp(j * 16, 1, 16)]
//   vectorize for k < 16: S[i] = S[i] + A[k]   ->   S[i] = S[i] + reduce(+, A[ramp(0, 1, 16)])
//
// Conditions that depend on the variable become masks (vectorize_body.h). Sums and products of
// floats over lanes require the permission `reassociate`. A loop is unrolled instead (or left
// serial above 64 iterations) if iterations might touch each other's elements, an extent depends on
// the variable, or a buffer is allocated in it.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void vectorize(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
