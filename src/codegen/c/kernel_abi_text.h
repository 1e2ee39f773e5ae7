// The text of runtime/abi/kernel_abi.h, for self-contained headers. Internal to this folder; the
// build generates the definition from that file.
#pragma once

#include <string_view>

namespace tilewright::codegen {

std::string_view kernel_abi_text();

}  // namespace tilewright::codegen
