#include "measure/eviction.h"

#include <cpuid.h>
#include <immintrin.h>

#include <cstdint>

namespace tilewright::measure {
namespace {

constexpr size_t kLine = 64;

bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1U << 23)) != 0;
}

__attribute__((target("clflushopt"))) void evict_unordered(std::byte* from, const std::byte* to) {
  for (; from < to; from += kLine) _mm_clflushopt(from);
}

void evict_ordered(const std::byte* from, const std::byte* to) {
  for (; from < to; from += kLine) _mm_clflush(from);
}

}  // namespace

void evict(std::span<const std::byte> memory) {
  if (memory.empty()) return;
  static const bool unordered = has_clflushopt();
  const auto misplaced = reinterpret_cast<uintptr_t>(memory.data()) % kLine;
  const std::byte* from = memory.data() - misplaced;
  const std::byte* to = memory.data() + memory.size();
  if (unordered) {
    evict_unordered(const_cast<std::byte*>(from), to);  // changes no content
  } else {
    evict_ordered(from, to);
  }
  _mm_mfence();
}

}  // namespace tilewright::measure
