#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <unordered_set>

namespace tilewright {
namespace {

Hash128 hash_of(std::initializer_list<uint64_t> words) {
  Hasher hasher;
  for (uint64_t word : words) hasher.add(word);
  return hasher.finish();
}

// Stored records carry these: a change here orphans them, so it is a change of hash version.
TEST(Hash, IsStable) {
  EXPECT_EQ(hash_of({}).hex(), "6a02852d7630886ccc978ee1e6458e6d");
  EXPECT_EQ(hash_of({1, 2, 3}).hex(), "60a7bb99b6c72623858e6f6ef8bbb909");
  EXPECT_EQ(Hasher().add_text("conv2d").finish().hex(), "55ad883391c768b8faa413486de05844");
}

TEST(Hash, OrderAndLengthMatter) {
  EXPECT_NE(hash_of({1, 2}), hash_of({2, 1}));
  EXPECT_NE(hash_of({}), hash_of({0}));
  EXPECT_NE(hash_of({0}), hash_of({0, 0}));
}

TEST(Hash, TextsAreFramedByTheirSize) {
  EXPECT_NE(Hasher().add_text("ab").add_text("c").finish(),
            Hasher().add_text("a").add_text("bc").finish());
  EXPECT_NE(Hasher().add_text("a").finish(),
            Hasher().add_text(std::string_view("a\0", 2)).finish());
  EXPECT_EQ(Hasher().add_text("a long text of 24 bytes.").finish(),
            Hasher().add_text("a long text of 24 bytes.").finish());
}

TEST(Hash, HexHas32Digits) {
  EXPECT_EQ((Hash128{.high = 0xabc, .low = 1}).hex(), "0000000000000abc0000000000000001");
}

TEST(Hash, EveryInputBitReachesAboutHalfOfTheOutput) {
  const Hash128 base = hash_of({0x0123456789abcdefULL, 42});
  for (int bit = 0; bit < 64; ++bit) {
    const Hash128 flipped = hash_of({0x0123456789abcdefULL ^ (1ULL << bit), 42});
    const int distance =
        std::popcount(base.high ^ flipped.high) + std::popcount(base.low ^ flipped.low);
    EXPECT_GT(distance, 35) << "bit " << bit;
    EXPECT_LT(distance, 93) << "bit " << bit;
  }
}

TEST(Hash, SmallIntegersDoNotCollide) {
  std::set<Hash128> seen;
  for (uint64_t a = 0; a < 100; ++a) {
    for (uint64_t b = 0; b < 100; ++b) seen.insert(hash_of({a, b}));
  }
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(Hash, CanBeAKeyOfUnorderedContainers) {
  std::unordered_set<Hash128> seen;
  for (uint64_t a = 0; a < 100; ++a) seen.insert(hash_of({a}));
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_TRUE(seen.contains(hash_of({42})));
  EXPECT_FALSE(seen.contains(hash_of({100})));
}

}  // namespace
}  // namespace tilewright
