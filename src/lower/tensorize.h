// Turns Tensorized loops into the expression of the tensor intrinsic whose extents, types and
// layouts they have (schedule/intrinsics.h). Loops that fit none, as a tail leaves them, are
// Vectorized.
//
//   tensorize for l < 16:
//     for f < 4: C[j * 16 + l] = C[j * 16 + l] + i32(A[k * 4 + f]) * i32(B[l * 4 + f])   ->
//   C[ramp(j * 16, 1, 16)] = dot(C[ramp(j * 16, 1, 16)], A[ramp(k * 4, 1, 4)], B[ramp(0, 1, 64)])
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void tensorize(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
