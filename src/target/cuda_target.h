// CudaTarget: an NVIDIA GPU to generate code for, by its compute capability. Its limits are those
// of the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", one row
// each (cuda_target.cc). A value.
//
//   cuda:sm_80     runs on every later device through its PTX
//   cuda:sm_90a    with instructions that only this architecture has
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "target/capability.h"

namespace tilewright {

struct ComputeCapability {
  int major = 7;
  int minor = 5;
  bool specific = false;  // suffix `a`: instructions that later architectures may lack

  std::string text() const;  // `sm_90a`
  auto operator<=>(const ComputeCapability&) const = default;
};
Result<ComputeCapability> parse_compute_capability(std::string_view text);  // sm_75 to sm_120

struct CudaLimits {
  int warp_size = 32;  // threads
  int threads_per_block = 1024;
  std::array<int, 3> block = {1024, 1024, 64};                           // threads in x, y, z
  std::array<int64_t, 3> grid = {(int64_t{1} << 31) - 1, 65535, 65535};  // blocks in x, y, z
  int registers_per_thread = 255;                                        // 32-bit registers
  int registers_per_block = 65536;
  int registers_per_sm = 65536;
  int64_t shared_bytes_per_block = 48 << 10;  // by default
  int64_t shared_bytes_opt_in = 0;            // per block, if requested at launch
  int64_t shared_bytes_per_sm = 0;
  int64_t local_bytes_per_thread = 512 << 10;
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int vector_bytes = 16;  // widest load or store of a thread
};

struct CudaTarget {
  ComputeCapability capability;

  const CudaLimits& limits() const;
  int64_t bytes(MemoryScope scope) const;  // per thread, block or device; 0: none

  bool operator==(const CudaTarget&) const = default;
};

}  // namespace tilewright
