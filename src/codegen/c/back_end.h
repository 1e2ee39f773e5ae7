// The row of the C back end: C source, compiled by the C compiler of the machine into a shared
// library.
#pragma once

#include "codegen/back_end.h"

namespace tilewright::codegen {

const BackEnd& c_back_end();

// The name of the text form that contains the functions.
inline constexpr std::string_view kCSourceText = "source";

}  // namespace tilewright::codegen
