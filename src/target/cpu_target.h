// CpuTarget: a processor that code is made for. Its architecture, the optional instructions that
// the code may use, the vectors it is written with and the threads it runs on. A value.
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
  FeatureSet features = {};  // of x86-64; empty for others
  int vector_bits = 128;     // of one vector register; at most what the features allow
  int threads = 1;           // at least 1

  // The architectural vector registers, whatever width is used.
  int vector_registers() const {
    return arch == CpuArch::Aarch64 || features.has(Feature::Avx512f) ? 32 : 16;
  }
  // What compiled code may use: all but the tile registers, which no back end has code for yet.
  FeatureSet code_features() const { return features.without(Feature::AmxTile); }
  int64_t bytes(MemoryScope scope) const;  // 0: has none

  bool operator==(const CpuTarget&) const = default;
};

// 512 with AVX-512, 256 with AVX, else 128.
int widest_vector_bits(FeatureSet features);

}  // namespace tilewright
