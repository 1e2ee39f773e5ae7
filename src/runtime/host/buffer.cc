#include "runtime/host/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/rounding.h"

namespace tilewright::runtime {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr std::byte kGuard{0xA5};

}  // namespace

AlignedBuffer::AlignedBuffer(int64_t bytes, const AlignedBufferOptions& options) {
  CHECK(bytes >= 0 && options.guard_bytes >= 0, "{} bytes, guard {}", bytes, options.guard_bytes);
  size_ = bytes;
  guard_ = round_up(options.guard_bytes, kAlignment);
  const bool huge = bytes >= kHugePage;
  const int64_t alignment = huge ? kHugePage : kAlignment;
  const int64_t total = round_up(guard_ + bytes + guard_ + kAlignment, alignment);
  base_ = static_cast<std::byte*>(
      std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(total)));
  if (base_ == nullptr) throw std::bad_alloc();
  if (huge) madvise(base_, static_cast<size_t>(total), MADV_HUGEPAGE);  // a hint
  data_ = base_ + guard_;
  std::memset(base_, static_cast<int>(kGuard), static_cast<size_t>(guard_));
  std::memset(data_, 0, static_cast<size_t>(bytes));
  std::memset(data_ + bytes, static_cast<int>(kGuard), static_cast<size_t>(guard_));
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guard_(std::exchange(other.guard_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(guard_, other.guard_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() { std::free(base_); }

std::optional<int64_t> AlignedBuffer::damaged_guard() const {
  for (int64_t k = -guard_; k < 0; ++k) {
    if (data_[k] != kGuard) return k;
  }
  for (int64_t k = 0; k < guard_; ++k) {
    if (data_[size_ + k] != kGuard) return size_ + k;
  }
  return std::nullopt;
}

}  // namespace tilewright::runtime
