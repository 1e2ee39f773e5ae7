// CpuTarget: a CPU to generate code for: its architecture, the optional instructions that the code
// may use, its vector width and its number of threads. A value.
#pragma once

#include <cstdint>
#include <string_view>

#include "target/capability.h"
#include "target/feature.h"

namespace tilewright {

enum class CpuArch : uint8_t { X86_64, Aarch64 };
std::string_view arch_text(CpuArch arch);  // `x86-64`, `aarch64`

#if defined(__aarch64__)
inline constexpr CpuArch kHostArch = CpuArch::Aarch64;
#else
inline constexpr CpuArch kHostArch = CpuArch::X86_64;
#endif

struct CpuTarget {
  CpuArch arch = CpuArch::X86_64;
  FeatureSet features = {};  // x86-64 only
  int vector_bits = 128;     // per vector register; at most what the features allow
  int threads = 1;           // at least 1

  // Architectural vector registers, independent of the width in use.
  int vector_registers() const {
    return arch == CpuArch::Aarch64 || features.has(Feature::Avx512f) ? 32 : 16;
  }
  // The features that compiled code may use: all except AMX tiles, which no back end generates yet.
  FeatureSet code_features() const { return features.without(Feature::AmxTile); }
  int64_t bytes(MemoryScope scope) const;  // 0: none

  bool operator==(const CpuTarget&) const = default;
};

// 512 with AVX-512, 256 with AVX, else 128.
int widest_vector_bits(FeatureSet features);

}  // namespace tilewright
