#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>

namespace tilewright {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }
Descriptor open_null() { return Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC)); }

TEST(Descriptor, ClosesOnDestruction) {
  int number = -1;
  {
    const Descriptor file = open_null();
    ASSERT_TRUE(file);
    number = file.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, OwnsNothingAfterAnError) {
  Descriptor file(::open("/does/not/exist", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(file);
  EXPECT_EQ(file.close(), 0);
}

TEST(Descriptor, HasOneOwner) {
  Descriptor first = open_null();
  const int number = first.get();
  Descriptor second = std::move(first);
  EXPECT_EQ(second.get(), number);
  Descriptor third = open_null();
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), number);
  EXPECT_EQ(third.close(), 0);
  EXPECT_FALSE(third);
  EXPECT_FALSE(is_open(number));
  EXPECT_TRUE(is_open(replaced));  // until `second` is destroyed
}

TEST(Descriptor, WritesAllBytesInParts) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const std::string sent(1 << 20, 'x');  // more than a pipe holds
  bool written = false;
  std::thread writer([&] {
    written = write_all(to, std::as_bytes(std::span(sent)));
    to.close();
  });
  std::string received;
  std::array<char, 4096> block{};
  for (ssize_t count = 1; count > 0; received.append(block.data(), static_cast<size_t>(count))) {
    count = ::read(from.get(), block.data(), block.size());
    ASSERT_GE(count, 0);
  }
  writer.join();
  EXPECT_TRUE(written);
  EXPECT_EQ(received, sent);
}

TEST(Descriptor, AnErrorEndsTheWrite) {
  const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::array<std::byte, 1> one{};
  EXPECT_FALSE(write_all(file, one));
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(write_all(file, {}));
}

}  // namespace
}  // namespace tilewright
