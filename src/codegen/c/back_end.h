// The row of the C back end: C source, compiled by the machine's C compiler into a shared library.
#pragma once

#include "codegen/back_end.h"

namespace tilewright::codegen {

const BackEnd& c_back_end();

}  // namespace tilewright::codegen
