// Maps dot products to single instructions of a target.
#pragma once

#include <llvm/IR/Intrinsics.h>

#include "base/result.h"
#include "ir/expr.h"
#include "target/target.h"

namespace tilewright::codegen {

// An intrinsic of LLVM: (sum, a for each lane, b). An error that names the intrinsic if there is
// none or the target lacks it.
Result<llvm::Intrinsic::ID> dot_instruction(const ir::Dot& dot, const Target& target);

}  // namespace tilewright::codegen
