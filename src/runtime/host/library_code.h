// The loader of artifacts of kind `library`: shared libraries compiled from generated C source
// (codegen/c). Their parallel loops run on the pools of runtime/host.
#pragma once

#include <memory>

#include "runtime/host/loader.h"

namespace tilewright::runtime {

// The bytes are a sealed library (runtime/host/seal.h). An error of kind Build if they are damaged,
// are not a library for this machine or lack the function.
Result<std::unique_ptr<LoadedCode>> load_library_code(const Artifact& artifact);

// The name of the pointer in such a library through which its parallel loops call
// tilewright_parallel_for of this process.
inline constexpr const char* kHostParallelFor = "tilewright_host_parallel_for";

}  // namespace tilewright::runtime
