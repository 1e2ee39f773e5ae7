#include "runtime/host/seal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/hash.h"

namespace tilewright::runtime {
namespace {

using Seal = std::array<uint8_t, 2 * sizeof(uint64_t)>;

Seal seal_of(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Hash128 hash = Hasher().add_text(text).finish();
  const uint64_t words[] = {hash.high, hash.low};
  Seal seal{};
  std::memcpy(seal.data(), words, seal.size());
  return seal;
}

}  // namespace

std::vector<uint8_t> sealed(std::vector<uint8_t> bytes) {
  const Seal seal = seal_of(bytes);
  bytes.insert(bytes.end(), seal.begin(), seal.end());
  return bytes;
}

Result<std::span<const uint8_t>> unsealed(std::span<const uint8_t> bytes) {
  const size_t size = bytes.size() - std::min(bytes.size(), sizeof(Seal));
  const std::span<const uint8_t> content = bytes.first(size);
  if (bytes.size() < sizeof(Seal) || !std::ranges::equal(bytes.subspan(size), seal_of(content))) {
    return fail(ErrorKind::Build, "the code is damaged or cut short; build it again");
  }
  return content;
}

}  // namespace tilewright::runtime
