// The runtime of a compiled model, as text and as an object, which is included in every exported
// model. The build generates both from src/runtime/abi. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright::deploy {

std::string_view kernel_abi_text();         // runtime/abi/kernel_abi.h
std::string_view model_abi_text();          // runtime/abi/model_abi.h
std::string_view runtime_text();            // all of it, as one self-contained C source
std::span<const uint8_t> runtime_object();  // the same, compiled, with hidden functions

}  // namespace tilewright::deploy
