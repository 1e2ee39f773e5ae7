// GuardedBuffer: memory of one operand (or the workspace) of a kernel under test. It lies as it
// would in a deployed program: anonymous, aligned to 64 bytes, from 2 MiB on at the start of a huge
// page. Around it:
//
//   no access | pattern | data, `size` bytes | pattern | no access
//
// A write that lands in a pattern is found by damage(), any access further out is a fault, and the
// names of all buffers are kept where a signal handler can read them. A buffer grows and is never
// given back before it is destroyed; the pattern is laid just behind the size in use.
//
// Not to be shared between threads.
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
  explicit GuardedBuffer(std::string_view name);  // `input A`; size 0
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  // Makes it writable and lays the patterns anew. Contents are not kept. An error when there is no
  // memory.
  Status resize(size_t size);
  void set_read_only(bool read_only);  // data and patterns

  std::byte* data() const { return data_; }  // null when size 0 was asked for first
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

  // `the guard zone of output Y was overwritten, 12 bytes behind its end`; empty when it was not.
  std::string damage() const;

 private:
  Status map(size_t size);
  void unmap();
  void publish(bool read_only);  // for describe_address

  std::string name_;
  std::byte* mapping_ = nullptr;  // with the parts that cannot be accessed
  size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t capacity_ = 0;  // from data_ to what cannot be accessed
  size_t size_ = 0;
  int slot_ = -1;  // of the table of names
};

// What lies at an address, seen from the nearest buffer: `write 4096 bytes behind the end of output
// Y`, `write to read-only input A at offset 128`, `read at address 0x0`. Writes at most `capacity`
// bytes, without a terminator; returns how many. Safe in a signal handler.
size_t describe_address(uintptr_t address, bool write, char* text, size_t capacity);

}  // namespace tilewright::measure
