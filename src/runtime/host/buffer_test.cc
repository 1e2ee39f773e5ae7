#include "runtime/host/buffer.h"

#include <gtest/gtest.h>

#include <utility>

namespace tilewright::runtime {
namespace {

TEST(AlignedBuffer, IsAlignedAndZeroed) {
  for (int64_t bytes : {0, 1, 63, 64, 1000, 3 << 20}) {
    for (int64_t guard : {0, 1, 256}) {
      const AlignedBuffer buffer(bytes, {.guard_bytes = guard});
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0U);
      EXPECT_EQ(buffer.size(), bytes);
      for (int64_t k = 0; k < bytes; k += 61) EXPECT_EQ(buffer.as<uint8_t>()[k], 0);
      EXPECT_FALSE(buffer.damaged_guard());
    }
  }
}

TEST(AlignedBuffer, DetectsWritesOutOfBounds) {
  const AlignedBuffer buffer(100, {.guard_bytes = 64});
  buffer.as<uint8_t>()[99] = 7;
  EXPECT_FALSE(buffer.damaged_guard());
  buffer.as<uint8_t>()[100] = 7;
  EXPECT_EQ(buffer.damaged_guard(), 100);
  buffer.as<uint8_t>()[-64] = 7;
  EXPECT_EQ(buffer.damaged_guard(), -64);
}

TEST(AlignedBuffer, Moves) {
  AlignedBuffer a(64);
  a.as<int>()[3] = 5;
  AlignedBuffer b = std::move(a);
  EXPECT_EQ(b.as<int>()[3], 5);
  AlignedBuffer c;
  c = std::move(b);
  EXPECT_EQ(c.as<int>()[3], 5);
}

}  // namespace
}  // namespace tilewright::runtime
