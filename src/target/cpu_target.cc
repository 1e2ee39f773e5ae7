#include "target/cpu_target.h"

#include <limits>

namespace tilewright {

std::string_view arch_text(CpuArch arch) { return arch == CpuArch::X86_64 ? "x86-64" : "aarch64"; }

int widest_vector_bits(FeatureSet features) {
  if (features.has(Feature::Avx512f)) return 512;
  return features.has(Feature::Avx) ? 256 : 128;
}

int64_t CpuTarget::bytes(MemoryScope scope) const {
  switch (scope) {
    case MemoryScope::Shared:
      return 0;
    case MemoryScope::Register:
      return int64_t{vector_registers()} * vector_bits / 8;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace tilewright
