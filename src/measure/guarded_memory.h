// GuardedBuffer: memory of one operand, or of the workspace, of a kernel under test. It is
// allocated as in a deployed program: anonymous, aligned to 64 bytes, and from 2 MiB on at the
// start of a huge page. It is surrounded by guard zones:
//
//   no access | pattern | data, `size` bytes | pattern | no access
//
// damage() detects writes into a pattern; any access further out is a fault. The names of all
// buffers are kept where a signal handler can read them. A buffer only grows, and is freed when it
// is destroyed. The pattern begins right after the bytes in use.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::measure {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::string_view name);  // such as `input A`; the size is 0
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  // Makes the buffer writable and rewrites the patterns. Contents are lost. An error if there is no
  // memory.
  Status resize(size_t size);
  void set_read_only(bool read_only);  // data and patterns

  std::byte* data() const { return data_; }  // null if the first size was 0
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

  // `the guard zone of output Y was overwritten, 12 bytes behind its end`; empty if it is intact.
  std::string damage() const;

 private:
  Status map(size_t size);
  void unmap();
  void publish(bool read_only);  // for describe_address

  std::string name_;
  std::byte* mapping_ = nullptr;  // including the inaccessible pages
  size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;  // bytes from data_ to the inaccessible pages
  size_t size_ = 0;
  int slot_ = -1;  // index in the table of names
};

// Describes an address relative to the nearest buffer: `write 4096 bytes behind the end of output
// Y`, `write to read-only input A at offset 128`, `read at address 0x0`. Writes at most `capacity`
// bytes, without a terminator, and returns their number. Async-signal-safe.
size_t describe_address(uintptr_t address, bool write, char* text, size_t capacity);

}  // namespace tilewright::measure
