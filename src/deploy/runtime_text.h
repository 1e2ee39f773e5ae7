// The run time of a compiled model, as text and as an object: what libraries, objects and sources
// of models come with. The build makes both from src/runtime/abi. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright::deploy {

std::string_view kernel_abi_text();         // runtime/abi/kernel_abi.h
std::string_view model_abi_text();          // runtime/abi/model_abi.h
std::string_view runtime_text();            // all of it, one C source that includes nothing of ours
std::span<const uint8_t> runtime_object();  // the same compiled, its functions hidden

}  // namespace tilewright::deploy
