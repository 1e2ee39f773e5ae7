// The verifier: the invariants of the loop IR, which every pass relies on and preserves. Runs after
// each pass in dev builds.
//
// Types agree. Every variable is bound exactly once, above its uses. Every buffer is an argument or
// is allocated above its uses. The number of indices matches the shape; extents and indices are
// I64. Parallel loops do not nest. Register buffers are accessed at index 0 by whole elements and
// are not prefetched. Inputs are not stored to.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace tilewright::ir {

Status verify(const Function& function);  // the error names the statement

}  // namespace tilewright::ir
