#include "base/wire.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright {
namespace {

enum class Color : uint8_t { Red, Green };

std::string sample() {
  WireWriter to;
  to.number(int32_t{-7});
  to.number(Color::Green);
  to.text("split");
  to.bytes(std::vector<uint8_t>{1, 2});
  to.count(2);
  to.number(0.5);
  to.number(1.5);
  return std::move(to).take();
}

TEST(Wire, RoundTrips) {
  const std::string bytes = sample();
  WireReader from(bytes);
  EXPECT_EQ(from.number<int32_t>(), -7);
  EXPECT_EQ(from.number<Color>(), Color::Green);
  EXPECT_EQ(from.text(), "split");
  EXPECT_EQ(from.bytes(), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(from.count(sizeof(double)), 2U);
  EXPECT_EQ(from.number<double>(), 0.5);
  EXPECT_FALSE(from.complete());
  EXPECT_EQ(from.number<double>(), 1.5);
  EXPECT_TRUE(from.complete());
}

TEST(Wire, ReadsPastTheEndGiveZerosAndFail) {
  WireReader from("abc");
  EXPECT_EQ(from.number<uint16_t>(), 0x6261);
  EXPECT_EQ(from.number<uint64_t>(), 0U);
  EXPECT_TRUE(from.failed());
  EXPECT_EQ(from.number<uint8_t>(), 0);  // `c` is not read after a failure
  EXPECT_FALSE(from.complete());
}

TEST(Wire, EveryPrefixIsIncomplete) {
  const std::string bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    WireReader from(std::string_view(bytes).substr(0, size));
    from.number<int32_t>();
    from.number<Color>();
    from.text();
    from.bytes();
    for (size_t left = from.count(sizeof(double)); left > 0; --left) from.number<double>();
    EXPECT_FALSE(from.complete()) << size;
  }
}

TEST(Wire, LengthBeyondTheEndIsRejected) {
  WireWriter to;
  to.count(size_t{1} << 60);
  const std::string bytes = std::move(to).take();
  WireReader text(bytes);
  EXPECT_EQ(text.text(), "");
  EXPECT_TRUE(text.failed());
  WireReader list(bytes);
  EXPECT_EQ(list.count(8), 0U);
  EXPECT_TRUE(list.failed());
}

}  // namespace
}  // namespace tilewright
