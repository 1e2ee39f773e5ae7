// Buffers with guard zones, and the messages for accesses out of bounds or against their
// protection.
#include "measure/guarded_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "measure/forked_testing.h"

namespace tilewright::measure {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

GuardedBuffer buffer_of(const char* name, size_t size) {
  GuardedBuffer buffer(name);
  EXPECT_TRUE(buffer.resize(size));
  return buffer;
}

TEST(GuardedBuffer, DetectsTheFirstByteOutOfBounds) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{64}, size_t{4095}, size_t{4096},
                            size_t{100000}, kHugePage, kHugePage + 12}) {
    SCOPED_TRACE(size);
    GuardedBuffer buffer = buffer_of("output Y", size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % (size >= kHugePage ? kHugePage : 64),
              0U);
    std::memset(buffer.data(), 0xFF, size);
    EXPECT_EQ(buffer.damage(), "");
    buffer.data()[size] = std::byte{1};
    EXPECT_EQ(buffer.damage(),
              "the guard zone of output Y was overwritten, 0 bytes behind its end");
    ASSERT_TRUE(buffer.resize(size));
    EXPECT_EQ(buffer.damage(), "");
    buffer.data()[-1] = std::byte{1};
    EXPECT_EQ(buffer.damage(),
              "the guard zone of output Y was overwritten, 1 bytes before its start");
  }
}

TEST(GuardedBuffer, KeepsItsMemoryAndGuardsTheSizeInUse) {
  GuardedBuffer buffer = buffer_of("workspace", 100000);
  const std::byte* first = buffer.data();
  ASSERT_TRUE(buffer.resize(1000));
  EXPECT_EQ(buffer.data(), first);
  EXPECT_EQ(buffer.size(), 1000U);
  buffer.data()[1000] = std::byte{0};
  EXPECT_NE(buffer.damage(), "");
  ASSERT_TRUE(buffer.resize(100000));
  EXPECT_EQ(buffer.data(), first);
  EXPECT_EQ(buffer.damage(), "");
  ASSERT_TRUE(buffer.resize(1000000));
  EXPECT_EQ(buffer.damage(), "");
}

TEST(GuardedBuffer, OutOfMemoryIsAnError) {
  GuardedBuffer buffer("workspace");
  const Status status = buffer.resize(size_t{1} << 50);
  ASSERT_FALSE(status);
  EXPECT_TRUE(status.error().message.starts_with("no memory for workspace of 1125899906842624"))
      << status.error().message;
  EXPECT_TRUE(buffer.resize(64));
}

struct Fault {
  const char* buffer;
  bool read_only;
  int64_t offset;  // from the start of 10000 bytes
  bool write;
  const char* detail;
};

TEST(GuardedBuffer, FaultsAreDescribed) {
  const Fault cases[] = {
      {"output Y", false, 20000, true, "write 10000 bytes behind the end of output Y"},
      {"output Y", false, 20000, false, "read 10000 bytes behind the end of output Y"},
      {"input A", false, -5000, false, "read 5000 bytes before the start of input A"},
      {"input A", true, 128, true, "write to read-only input A at offset 128"},
      {"input A", true, -4, true, "write 4 bytes before the start of input A"},
      {"constant W (packed)", true, 10008, true,
       "write 8 bytes behind the end of constant W (packed)"},
  };
  for (const Fault& one : cases) {
    SCOPED_TRACE(one.detail);
    GuardedBuffer buffer = buffer_of(one.buffer, 10000);
    buffer.set_read_only(one.read_only);
    const Death death = run_forked([&] {
      volatile std::byte* at = buffer.data() + one.offset;
      if (one.write) {
        *at = std::byte{1};
      } else {
        static_cast<void>(*at);
      }
    });
    EXPECT_EQ(death.signal, SIGSEGV);
    EXPECT_EQ(death.status.signal, SIGSEGV);
    EXPECT_EQ(detail_text(death.status), one.detail);
  }
}

}  // namespace
}  // namespace tilewright::measure
