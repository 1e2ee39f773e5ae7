// Artifact: one compiled kernel: bytes that outlive the compiler and can be sent between processes,
// and the information needed to load and call them. A back end creates it (codegen/back_end.h), and
// the loader of its kind loads it (runtime/host/loader.h). A value.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/kernel_abi.h"

namespace tilewright::runtime {

inline constexpr std::string_view kElfArtifact = "elf";                // one relocatable object
inline constexpr std::string_view kSharedLibraryArtifact = "library";  // one shared library

// Launch configuration of a device kernel; unused on a CPU.
struct Launch {
  std::array<int64_t, 3> grid = {1, 1, 1};   // blocks in x, y, z
  std::array<int64_t, 3> block = {1, 1, 1};  // threads per block in x, y, z
  int64_t shared_bytes = 0;                  // shared memory per block

  bool operator==(const Launch&) const = default;
};

struct Artifact {
  std::string kind{kElfArtifact};  // selects the loader
  std::vector<uint8_t> bytes = {};
  std::string entry = {};        // name of the kernel's function
  int64_t shared_workspace = 0;  // bytes, for all threads
  int64_t thread_workspace = 0;  // additional bytes per worker
  Launch launch = {};
  int abi_version = TILEWRIGHT_ABI_VERSION;  // that the code was compiled for
  // Kept in its calls; otherwise they count as zero. Set by codegen::compile, not by a back end.
  bool denormals = false;

  int64_t workspace_bytes(int threads) const {
    return shared_workspace + threads * thread_workspace;
  }
};

}  // namespace tilewright::runtime
