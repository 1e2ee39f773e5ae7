// Replaces Tensorized loops by the expression of the tensor intrinsic that they name
// (schedule/intrinsics.h). Loops that do not match it, such as those of a tail, are Vectorized
// instead: the innermost spatial one.
//
//   tensorize vnni_dot_u8i8 for l < 16:
//     for f < 4: C[j * 16 + l] = C[j * 16 + l] + i32(A[k * 4 + f]) * i32(B[l * 4 + f])   ->
//   C[ramp(j * 16, 1, 16)] = dot(C[ramp(j * 16, 1, 16)], A[ramp(k * 4, 1, 4)], B[ramp(0, 1, 64)])
//
// Strided rows have one index per element: for 2 rows of 16 lanes at a distance of 40, starting at
// j, it is j + ramp(0, 1, 32) / 16 * 40 + ramp(0, 1, 32) % 16.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void tensorize(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
