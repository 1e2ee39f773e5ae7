#include "runtime/host/seal.h"

#include <gtest/gtest.h>

namespace tilewright::runtime {
namespace {

std::vector<uint8_t> some_bytes() {
  std::vector<uint8_t> bytes;
  for (int k = 0; k < 100; ++k) bytes.push_back(static_cast<uint8_t>(k * 37));
  return bytes;
}

TEST(Seal, RoundTrips) {
  for (const std::vector<uint8_t>& bytes : {some_bytes(), std::vector<uint8_t>()}) {
    const std::vector<uint8_t> with_seal = sealed(bytes);
    EXPECT_GT(with_seal.size(), bytes.size());
    const auto again = unsealed(with_seal);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(std::vector<uint8_t>(again->begin(), again->end()), bytes);
  }
}

TEST(Seal, AnyDamageIsAnError) {
  const std::vector<uint8_t> good = sealed(some_bytes());
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bad = good;
      bad[at] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_FALSE(unsealed(bad).has_value()) << at;
    }
    EXPECT_FALSE(unsealed(std::span(good).first(at)).has_value()) << at;
  }
  std::vector<uint8_t> longer = good;
  longer.push_back(0);
  EXPECT_EQ(unsealed(longer).error().kind, ErrorKind::Build);
  EXPECT_FALSE(unsealed({}).has_value());
}

}  // namespace
}  // namespace tilewright::runtime
