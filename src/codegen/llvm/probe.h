// Whether this back end works on this machine at all, for `tilewright doctor`.
#pragma once

#include "base/result.h"

namespace tilewright::codegen {

// Compiles, loads and runs a function of one line; the error says which of these failed.
Status llvm_works();

}  // namespace tilewright::codegen
