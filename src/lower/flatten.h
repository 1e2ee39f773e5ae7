// Converts the indices of a multi-dimensional access to one flat row-major element index, affine in
// the loops where that can be shown. Buffers become one-dimensional.
//
//   A: f32[14, 256]   A[i.0 * 2 + i.1, k]   ->   A: f32[3584]   A[i.0 * 512 + i.1 * 256 + k]
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void flatten(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
