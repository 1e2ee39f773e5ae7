// Transposes squares in registers. A part is four lanes, as in x86 shuffles: first squares of 4 x 4
// are transposed within parts, then whole parts are exchanged.
//
//   rows of 8:  a0..a7, b0..b7, ...  ->  a0 b0 c0 d0 | a4 b4 c4 d4, a1 b1 c1 d1 | a5 ..., ...
//                                    ->  a0 b0 c0 d0 | e0 f0 g0 h0, ...
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/llvm/types.h"

namespace tilewright::codegen {

// As many rows as lanes: a power of two, at least 4.
std::vector<Value> transposed(llvm::IRBuilder<>& builder, std::vector<Value> rows);

}  // namespace tilewright::codegen
