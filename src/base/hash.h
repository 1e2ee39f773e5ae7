// 128-bit content hashes of workloads, tasks and programs. Stable across runs and machines, since
// they are stored; not cryptographic. Add fields in a fixed order; texts are framed by their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tilewright {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;  // 32 lower-case digits
};

// Accumulates words into a Hash128. add(1), add(2) differs from add(2), add(1).
class Hasher {
 public:
  Hasher& add(uint64_t word) {
    a_ = mix(a_ ^ word);
    b_ = mix(b_ + (word ^ 0x9e3779b97f4a7c15ULL));
    return *this;
  }
  Hasher& add_signed(int64_t value) { return add(static_cast<uint64_t>(value)); }
  Hasher& add_text(std::string_view text);
  Hash128 finish() const { return {mix(a_ ^ (b_ >> 7)), mix(b_ ^ (a_ << 9))}; }

 private:
  // The finalizer of splitmix64: a bijection of 64-bit words; each input bit affects every output
  // bit.
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

  uint64_t a_ = 0x243f6a8885a308d3ULL;
  uint64_t b_ = 0x13198a2e03707344ULL;
};

}  // namespace tilewright

// For unordered containers. The bits of a content hash are already uniform.
template <>
struct std::hash<tilewright::Hash128> {
  size_t operator()(const tilewright::Hash128& hash) const noexcept { return hash.low; }
};
