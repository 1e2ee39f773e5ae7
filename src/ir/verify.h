// The verifier: what every pass may rely on and must keep. Run after each pass in dev builds.
//
// Types agree; every variable is bound exactly once above its use; every buffer is an argument or
// allocated above its use; index counts match the shape; no Parallel inside a Parallel; Register
// buffers are accessed at index 0 with their whole element and not prefetched; extents and indices
// are I64; inputs are not stored to.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace tilewright::ir {

Status verify(const Function& function);  // the error names the statement

}  // namespace tilewright::ir
