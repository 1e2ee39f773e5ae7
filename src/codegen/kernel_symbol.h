// The name of a kernel's function in an object file or a C source, printable by every tool.
//
//   gmm:512   ->   tilewright_gmm_512
#pragma once

#include <string>
#include <string_view>

namespace tilewright::codegen {

std::string kernel_symbol(std::string_view function_name);

}  // namespace tilewright::codegen
