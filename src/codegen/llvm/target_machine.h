// LLVM's TargetMachine for a Target, created once per thread and feature set: creating one takes
// longer than a small compilation. Internal to this folder.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace tilewright::codegen {

// LLVM's target-features string for its CPU `x86-64`: `+sse4.2,+avx,+amx-tile`.
std::string llvm_features(const Target& target);

// An error that says what an x86-64 target lacks if no kernels can be compiled for it.
Status check_llvm_target(const Target& target);

// Owned by the calling thread; valid until it ends.
Result<llvm::TargetMachine*> target_machine(const Target& target);

}  // namespace tilewright::codegen
