// LLVM's machine for a Target, made once a thread and feature set: making one takes longer than a
// small compile. Internal to this folder.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "base/result.h"
#include "target/target.h"

namespace tilewright::codegen {

// Owned by the calling thread; lives as long as it.
Result<llvm::TargetMachine*> target_machine(const Target& target);

}  // namespace tilewright::codegen
