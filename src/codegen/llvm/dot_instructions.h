// Maps dot products to single instructions of a target.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include <optional>

#include "ir/expr.h"
#include "target/target.h"

namespace tilewright::codegen {

// An LLVM intrinsic with the operands (sum, a for each lane, b). Empty if the target lacks it.
std::optional<llvm::Intrinsic::ID> dot_instruction(const ir::Dot& dot, const Target& target);

}  // namespace tilewright::codegen
