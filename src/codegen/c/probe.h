// Whether this back end works on this machine at all, for `tilewright doctor`.
#pragma once

#include "base/result.h"

namespace tilewright::codegen {

// Writes, compiles with `cc`, loads and runs a function of one line; the error says which of these
// failed.
Status c_works();

}  // namespace tilewright::codegen
