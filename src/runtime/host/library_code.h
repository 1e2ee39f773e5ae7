// The loader of artifacts of kind `library`: shared libraries that a C compiler made of our C
// source (codegen/c). Their parallel loops run on runtime/host's pools.
#pragma once

#include <memory>

#include "runtime/host/loader.h"

namespace tilewright::runtime {

// An error of kind Build where the bytes are no library of this machine or lack the function.
Result<std::unique_ptr<LoadedCode>> load_library_code(const Artifact& artifact);

// The pointer in such a library through which its parallel loops reach ours.
inline constexpr const char* kHostParallelFor = "tilewright_host_parallel_for";

}  // namespace tilewright::runtime
