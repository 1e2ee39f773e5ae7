#include "base/hash.h"

#include <fmt/format.h>

#include <cstring>

namespace tilewright {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hasher& Hasher::add_text(std::string_view text) {
  add(text.size());
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    add(word);
  }
  return *this;
}

}  // namespace tilewright
