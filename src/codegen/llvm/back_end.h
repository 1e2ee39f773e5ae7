// The row of the LLVM back end: relocatable objects for x86-64 with AVX2, FMA and F16C.
#pragma once

#include "codegen/back_end.h"

namespace tilewright::codegen {

const BackEnd& llvm_back_end();

}  // namespace tilewright::codegen
