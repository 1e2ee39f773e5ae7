// The text of runtime/abi/kernel_abi.h, for headers that stand on their own. Internal to this
// folder; the build makes the definition from that file.
#pragma once

#include <string_view>

namespace tilewright::codegen {

std::string_view kernel_abi_text();

}  // namespace tilewright::codegen
