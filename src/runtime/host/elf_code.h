// The loader of artifacts of kind `elf`: relocatable objects, which are mapped directly, with
// relocations resolved against themselves, tilewright_kernel_parallel_for (by the name
// tilewright_parallel_for), memcpy, memmove and memset.
#pragma once

#include <memory>

#include "runtime/host/loader.h"

namespace tilewright::runtime {

// An object for another version of the ABI is an error of kind Unsupported.
Result<std::unique_ptr<LoadedCode>> load_elf_code(const Artifact& artifact);

}  // namespace tilewright::runtime
