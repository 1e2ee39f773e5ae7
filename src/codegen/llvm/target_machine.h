// LLVM's machine for a Target, made once per thread and feature set: making one takes longer than a
// small compile. Internal to this folder.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace tilewright::codegen {

// A target-features string of LLVM, for its CPU `x86-64`: `+sse4.2,+avx,+amx-tile`.
std::string llvm_features(const Target& target);

// Owned by the calling thread; lives as long as it.
Result<llvm::TargetMachine*> target_machine(const Target& target);

}  // namespace tilewright::codegen
