// Target: a CPU or a CUDA device to generate code for. It has no cache sizes and clock rates, which
// belong to Machine. A target and a workload are the key of records: equal targets have equal
// texts, and equal texts denote equal targets.
//
//   x86-64:sse4.2,avx,fma,avx2;threads=2
//   x86-64-v4;threads=2;vector_bits=256      v2, v3 and v4 abbreviate feature lists
//   aarch64;threads=2                        no back end yet
//   cuda:sm_90a                              no back end yet
//
// Schedules, passes and cost models query capabilities, which all kinds of target have. Back ends,
// loaders and the text form query the kind. A value; safe to share between threads.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/thread_axis.h"
#include "target/capability.h"
#include "target/cpu_target.h"
#include "target/cuda_target.h"

namespace tilewright {

inline constexpr int kMaxThreads = 4096;  // of a CPU target

class Target {
 public:
  Target() = default;                              // plain x86-64, one thread
  Target(const CpuTarget& cpu) : kind_(cpu) {}     // NOLINT(google-explicit-constructor): a kind
  Target(const CudaTarget& cuda) : kind_(cuda) {}  // NOLINT(google-explicit-constructor): a kind

  // --- capabilities ---

  // Bytes of a vector register, or of the widest access of a device thread.
  int vector_bytes() const {
    const CpuTarget* host = cpu();
    return host != nullptr ? host->vector_bits / 8 : cuda()->limits().vector_bytes;
  }
  // Elements per vector: lanes(4) is 16 for 512 bits.
  int lanes(int element_bytes) const { return vector_bytes() / element_bytes; }
  // Vectors that one thread can keep in registers.
  int vector_registers() const;
  // Host threads per call. The threads of a device are in its limits.
  int threads() const {
    const CpuTarget* host = cpu();
    return host != nullptr ? host->threads : 1;
  }
  bool has(Capability capability) const;
  // Code runs on the processor of the host: its caches and its FMA peak are the limits of the code.
  bool runs_on_cpu() const { return cpu() != nullptr; }
  // Loops can be bound to the blocks and threads of a grid.
  bool has_thread_axes() const { return cuda() != nullptr; }
  // The largest extent of a loop that is bound to the axis; 0 without thread axes, the largest
  // int64_t for virtual threads, which have no limit.
  int64_t max_extent(ThreadAxis axis) const;
  // Of a block, in all dimensions together; 0 without thread axes.
  int64_t threads_per_block() const {
    return cuda() == nullptr ? 0 : cuda()->limits().threads_per_block;
  }
  // Threads that execute one instruction together; 1 on a CPU, whose vectors are in vector_bytes.
  int warp_size() const { return cuda() == nullptr ? 1 : cuda()->limits().warp_size; }
  // Bytes of the memory of one thread, block or device; 0 without such memory, the largest int64_t
  // without a limit.
  int64_t bytes(MemoryScope scope) const;
  bool has(MemoryScope scope) const { return bytes(scope) > 0; }
  // One scope for all that this target does not distinguish: the registers of a CPU are allocated
  // by the compiler, from the memory of one thread.
  MemoryScope distinct_scope(MemoryScope scope) const {
    return cpu() != nullptr && scope == MemoryScope::Register ? MemoryScope::Local : scope;
  }

  // --- kinds, for back ends, loaders and texts ---

  const CpuTarget* cpu() const { return std::get_if<CpuTarget>(&kind_); }  // null for other kinds
  bool is_cpu(CpuArch arch) const { return cpu() != nullptr && cpu()->arch == arch; }
  // Null for other kinds.
  const CudaTarget* cuda() const { return std::get_if<CudaTarget>(&kind_); }
  bool has(Feature feature) const { return cpu() != nullptr && cpu()->features.has(feature); }

  // The same CPU with another number of threads; a device is returned unchanged.
  Target with_threads(int threads) const;
  Target with_vector_bits(int bits) const;  // at most what the features allow

  bool operator==(const Target&) const = default;

 private:
  std::variant<CpuTarget, CudaTarget> kind_;
};

// An x86-64 target with the widest vectors of `features`.
Target make_target(FeatureSet features, int threads);

// The CPU of this machine with all its features and its widest vectors.
Target host_target(int threads);

// An error that names the missing instructions or device if this machine cannot run code for
// `target`.
Status check_runs_here(const Target& target);

std::string print_target(const Target& target);      // canonical: `x86-64:...;threads=2`
Result<Target> parse_target(std::string_view text);  // also accepts the short forms

}  // namespace tilewright
