#include "base/utf8.h"

#include <cstdint>

namespace tilewright {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The length in bytes of the first code point of the text; 0: it is invalid.
size_t length_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const size_t length = first < 0xC2   ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code = first & (0x7FU >> length);
  for (size_t k = 1; k < length; ++k) {
    if (!continues(text[k])) return 0;
    code = code << 6U | (static_cast<unsigned char>(text[k]) & 0x3FU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool none = code == 0xFFFE || code == 0xFFFF;
  return code < kSmallest[length] || code > 0x10FFFF || surrogate || none ? 0 : length;
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = length_of(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      clean += '?';
    } else if (first < 0x20 || first == 0x7F) {
      clean += ' ';
    } else {
      clean += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

size_t code_point_count(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += continues(c) ? 0 : 1;
  return count;
}

std::string first_code_points(std::string_view text, size_t limit) {
  if (code_point_count(text) <= limit) return std::string(text);
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && count++ + 1 == limit) break;
  }
  return std::string(text.substr(0, end)) + "~";
}

}  // namespace tilewright
