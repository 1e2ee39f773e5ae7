// Replaces Unrolled loops of constant extent by copies of their body. Variables bound in a copy are
// new. A buffer allocated in the body is allocated once per copy, one after the other.
//
//   unroll for i < 2: C[i * 4 + j] = A[i]   ->   C[j] = A[0]
//                                                C[j + 4] = A[1]
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void unroll(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
