// Removes unused bindings, and those used only by unused bindings: C compilers warn about them.
//
//   let n = round(x)          ->   B[0] = 1.0
//   let r = x - n
//   B[0] = 1.0
#pragma once

#include "ir/stmt.h"

namespace tilewright::codegen {

ir::Stmt without_unused_lets(const ir::Stmt& stmt);

}  // namespace tilewright::codegen
