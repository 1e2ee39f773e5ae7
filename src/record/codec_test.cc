#include "record/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "record/record_testing.h"

namespace tilewright::record {
namespace {

struct Case {
  std::string text;
  std::string shape;
  size_t number_bytes;
};

TEST(Codec, NumbersAreReplacedByPlaceholders) {
  const Case cases[] = {
      {"", "", 0},
      {"split C i [4, 16]\n", "split C i [\1, \1]\n", 2},
      {"split C i.0 [300]\nfuse T2 [i.0, j.1]", "split C i.0 [\1]\nfuse T2 [i.0, j.1]", 2},
      {"0 00 01 7x x7 1.5", "\1 00 01 7x x7 1.5", 1},
      {"999999999999999999 1000000000000000000", "\1 1000000000000000000", 9},
      {"-5", "-\1", 1},
      {"a\1b 5", "\2a\1b 5", 0},
      {"\2", "\2\2", 0},
  };
  for (const Case& c : cases) {
    CompactTrace compact;
    compact_trace(c.text, &compact);
    EXPECT_EQ(compact.shape, c.shape);
    EXPECT_EQ(compact.numbers.size(), c.number_bytes) << c.text;
    EXPECT_EQ(expand_trace(compact.shape, compact.numbers), c.text);
  }
}

TEST(Codec, AnyTextRoundTrips) {
  Rng rng(3);
  CompactTrace compact;
  for (int k = 0; k < 5000; ++k) {
    std::string text = testing::odd_text(rng);
    for (char& c : text) {
      if (rng.chance(0.1)) c = static_cast<char>(rng.below(256));
    }
    compact_trace(text, &compact);
    EXPECT_EQ(expand_trace(compact.shape, compact.numbers), text);
  }
}

TEST(Codec, MismatchedPartsAreRejected) {
  EXPECT_EQ(expand_trace("[\1]", ""), std::nullopt);
  EXPECT_EQ(expand_trace("[\1]", "\x80"), std::nullopt);
  EXPECT_EQ(expand_trace("[]", "\5"), std::nullopt);
  EXPECT_EQ(expand_trace("\2[]", "\5"), std::nullopt);
  EXPECT_EQ(expand_samples("\7"), std::nullopt);
  EXPECT_EQ(expand_samples(std::string("\0abc", 4)), std::nullopt);
  EXPECT_EQ(expand_samples(std::string("\1abc", 4)), std::nullopt);
  EXPECT_EQ(expand_samples("\2\x80"), std::nullopt);
}

TEST(Codec, SamplesRoundTripExactly) {
  const double largest = std::numeric_limits<double>::max();
  const struct {
    std::vector<double> samples;
    size_t bytes;
  } cases[] = {
      {{}, 0},
      {{1000, 1001, 999}, 1 + 2 + 1 + 1},
      {{-0.0, 5}, 1 + 8},
      {{0.5, 1.5}, 1 + 8},
      {{0.1, 1.5}, 1 + 16},
      {{largest, -largest, 4.9e-324}, 1 + 24},
      {{0x1p53 - 1, -(0x1p53 - 1)}, 1 + 8 + 8},
      {{0x1p60}, 1 + 4},
  };
  for (const auto& c : cases) {
    std::string bytes;
    compact_samples(c.samples, &bytes);
    EXPECT_EQ(bytes.size(), c.bytes);
    const auto samples = expand_samples(bytes);
    ASSERT_TRUE(samples.has_value());
    ASSERT_EQ(samples->size(), c.samples.size());
    for (size_t k = 0; k < samples->size(); ++k) {
      EXPECT_EQ(std::bit_cast<uint64_t>((*samples)[k]), std::bit_cast<uint64_t>(c.samples[k]));
    }
  }
}

}  // namespace
}  // namespace tilewright::record
