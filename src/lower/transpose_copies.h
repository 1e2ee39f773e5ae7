// Converts copies whose lanes are contiguous on one side and whose loop is contiguous on the other
// to squares that are transposed in registers, with as many rows as a vector has lanes. This
// removes gathers and scatters.
//
//   for i < 32: B[ramp(i, 64, 16)] = A[ramp(i * 100, 1, 16)]   ->
//     for i < 2: transpose 16 x 16: B[i * 16] by 64 = A[i * 1600] by 100
//
// Applies to F32, if the extent is a multiple of the lanes and no element is written twice. Several
// copies in one loop stay in one loop.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void transpose_copies(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
