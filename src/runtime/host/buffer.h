// AlignedBuffer: memory for the operands and the workspace of a kernel, optionally with guard zones
// of a known pattern on both sides, which reveal writes out of bounds. Zeroed on creation. From 2
// MiB on, it starts at a huge-page boundary and requests huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tilewright::runtime {

struct AlignedBufferOptions {
  int64_t guard_bytes = 0;  // on each side; rounded up to 64
};

class AlignedBuffer {
 public:
  AlignedBuffer() = default;  // empty: data() is null
  explicit AlignedBuffer(int64_t bytes, const AlignedBufferOptions& options = {});
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  void* data() const { return data_; }  // aligned to 64 bytes
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  int64_t size() const { return size_; }  // in bytes, without guard zones

  // The offset from data() of the first overwritten guard byte: negative before the buffer, size()
  // or more after it.
  std::optional<int64_t> damaged_guard() const;

 private:
  std::byte* base_ = nullptr;  // the allocation
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  int64_t guard_ = 0;
};

}  // namespace tilewright::runtime
