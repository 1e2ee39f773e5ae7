#include "record/codec.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewright::record {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kNumber = '\1';
constexpr char kWhole = '\2';
constexpr size_t kMaxDigits = 18;  // fits in 63 bits

constexpr char kDoubles = 0;
constexpr char kFloats = 1;
constexpr char kIntegers = 2;

enum class Sort : uint8_t { Other, Name, Digit };

// Characters that may be part of a name, so that digits there are not a separate number.
constexpr std::array<Sort, 256> kSorts = [] {
  std::array<Sort, 256> sorts{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    sorts[static_cast<size_t>(c)] = digit                            ? Sort::Digit
                                    : letter || c == '_' || c == '.' ? Sort::Name
                                                                     : Sort::Other;
  }
  return sorts;
}();
Sort sort_of(char c) { return kSorts[static_cast<unsigned char>(c)]; }

void put_varint(uint64_t value, std::string* bytes) {
  while (value >= 0x80) {
    bytes->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes->push_back(static_cast<char>(value));
}

bool take_varint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Maps small differences of either sign to small numbers: 0, -1, 1, -2 -> 0, 1, 2, 3.
uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// An integer that is exact in a double, and not -0.
bool is_plain_integer(double value) {
  return std::abs(value) < 0x1p53 && value == std::trunc(value) &&
         !(value == 0 && std::signbit(value));
}
bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

template <class T>
void put_plain(std::span<const double> samples, std::string* bytes) {
  for (const double sample : samples) {
    const T value = static_cast<T>(sample);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes->append(raw, sizeof raw);
  }
}

template <class T>
std::optional<std::vector<double>> take_plain(std::string_view bytes) {
  if (bytes.size() % sizeof(T) != 0) return std::nullopt;
  std::vector<double> samples;
  samples.reserve(bytes.size() / sizeof(T));
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    samples.push_back(value);
  }
  return samples;
}

}  // namespace

void compact_trace(std::string_view text, CompactTrace* compact) {
  compact->shape.clear();
  compact->numbers.clear();
  if (text.find(kNumber) != std::string_view::npos || text.find(kWhole) != std::string_view::npos) {
    compact->shape += kWhole;
    compact->shape += text;
    return;
  }
  size_t copied = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = at;
    const Sort sort = sort_of(text[at++]);
    if (sort == Sort::Other) continue;
    bool digits = sort == Sort::Digit;
    for (; at < text.size() && sort_of(text[at]) != Sort::Other; ++at) {
      digits = digits && sort_of(text[at]) == Sort::Digit;
    }
    const size_t size = at - begin;
    if (!digits || size > kMaxDigits || (text[begin] == '0' && size > 1)) continue;
    uint64_t value = 0;
    for (size_t k = begin; k < at; ++k) value = 10 * value + static_cast<uint64_t>(text[k] - '0');
    compact->shape.append(text, copied, begin - copied);
    compact->shape += kNumber;
    copied = at;
    put_varint(value, &compact->numbers);
  }
  compact->shape.append(text, copied, text.size() - copied);
}

std::optional<std::string> expand_trace(std::string_view shape, std::string_view numbers) {
  if (shape.starts_with(kWhole)) {
    if (!numbers.empty()) return std::nullopt;
    return std::string(shape.substr(1));
  }
  std::string text;
  text.reserve(shape.size() + 2 * numbers.size());
  while (!shape.empty()) {
    const size_t at = shape.find(kNumber);
    text += shape.substr(0, at);
    if (at == std::string_view::npos) break;
    shape.remove_prefix(at + 1);
    uint64_t value = 0;
    if (!take_varint(&numbers, &value)) return std::nullopt;
    fmt::format_to(std::back_inserter(text), "{}", value);
  }
  if (!numbers.empty()) return std::nullopt;
  return text;
}

void compact_samples(std::span<const double> samples, std::string* bytes) {
  bytes->clear();
  bool integers = true;
  bool floats = true;
  for (const double sample : samples) {
    integers = integers && is_plain_integer(sample);
    floats = floats && std::abs(sample) < 0x1p127 &&
             same_bits(static_cast<double>(static_cast<float>(sample)), sample);
  }
  if (samples.empty()) return;
  if (integers) {
    bytes->push_back(kIntegers);
    int64_t last = 0;
    for (const double sample : samples) {
      const auto value = static_cast<int64_t>(sample);
      put_varint(zigzag(value - last), bytes);
      last = value;
    }
  } else if (floats) {
    bytes->push_back(kFloats);
    put_plain<float>(samples, bytes);
  } else {
    bytes->push_back(kDoubles);
    put_plain<double>(samples, bytes);
  }
}

std::optional<std::vector<double>> expand_samples(std::string_view bytes) {
  if (bytes.empty()) return std::vector<double>();
  const char how = bytes.front();
  bytes.remove_prefix(1);
  if (how == kDoubles) return take_plain<double>(bytes);
  if (how == kFloats) return take_plain<float>(bytes);
  if (how != kIntegers) return std::nullopt;
  std::vector<double> samples;
  int64_t last = 0;
  while (!bytes.empty()) {
    uint64_t difference = 0;
    if (!take_varint(&bytes, &difference)) return std::nullopt;
    last = static_cast<int64_t>(static_cast<uint64_t>(last) +
                                static_cast<uint64_t>(unzigzag(difference)));
    samples.push_back(static_cast<double>(last));
  }
  return samples;
}

}  // namespace tilewright::record
