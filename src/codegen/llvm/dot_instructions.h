// The dot products that are one instruction of a target.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include <optional>

#include "ir/expr.h"
#include "target/target.h"

namespace tilewright::codegen {

// An intrinsic of LLVM: (sum, a for each lane, b). None where the target lacks it.
std::optional<llvm::Intrinsic::ID> dot_instruction(const ir::Dot& dot, const Target& target);

}  // namespace tilewright::codegen
