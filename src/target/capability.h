// Capabilities: the properties of a target that schedules and passes query in place of its
// instruction set. Capability lists operations, MemoryScope lists kinds of memory by the threads
// that share them. One table (capability.cc) maps a capability to the requirement of each kind of
// target.
//
//   target.has(Capability::DotU8I8Lanes16)      x86-64 with avx512vnni: true
//   target.bytes(MemoryScope::Shared)           cuda:sm_90a: 232448; a CPU: 0
#pragma once

#include <cstdint>
#include <string>

namespace tilewright {

// The first ones are instructions that compute a small tensor at once. Traces store names of
// intrinsics, not these.
enum class Capability : uint8_t {
  DotU8I8Lanes16,  // 16 sums of 4 products u8 * i8, added to i32
  DotBf16Lanes16,  // 16 sums of 2 products bf16 * bf16, added to f32
  MaskedLanes,     // loads, stores and arithmetic of some lanes of a vector at no extra cost
};
inline constexpr int kCapabilityCount = static_cast<int>(Capability::MaskedLanes) + 1;

// From the widest sharing to none.
enum class MemoryScope : uint8_t {
  Global,    // all threads of a call
  Shared,    // the threads of a block, on the chip
  Local,     // one thread, in memory
  Register,  // one thread, in registers
};

class Target;

// The requirement in words, by the kind of target: `the CPU feature avx512vnni`.
std::string requirement_text(Capability capability, const Target& target);

}  // namespace tilewright
