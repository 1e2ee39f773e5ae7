#include "measure/guarded_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/rounding.h"
#include "base/system_error.h"

namespace tilewright::measure {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kGuard = kPage;           // bytes of pattern on each side
constexpr size_t kForbidden = 16 * kPage;  // on each side
constexpr std::byte kPattern{0xA5};

// --- the table of names, read by the handler of a fault ---

struct NamedRange {
  std::atomic<bool> used{false};
  std::atomic<uintptr_t> begin{0}, end{0};  // including the inaccessible pages
  std::atomic<uintptr_t> data{0};
  std::atomic<size_t> size{0};
  std::atomic<bool> read_only{false};
  char name[64] = {};
};
constexpr int kSlots = 512;  // further buffers have no name in fault messages
NamedRange ranges[kSlots];

int take_slot() {
  for (int k = 0; k < kSlots; ++k) {
    if (!ranges[k].used.exchange(true)) return k;
  }
  return -1;
}

// A text of bounded length, built without the library (async-signal-safe).
class Writer {
 public:
  Writer(char* text, size_t capacity) : text_(text), capacity_(capacity) {}
  void add(std::string_view part) {
    for (const char c : part) {
      if (length_ < capacity_) text_[length_++] = c;
    }
  }
  void add(uint64_t number, unsigned base = 10) {
    char digits[24];
    size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    while (count > 0) add({&digits[--count], 1});
  }
  size_t length() const { return length_; }

 private:
  char* text_;
  size_t capacity_;
  size_t length_ = 0;
};

void describe_within(const NamedRange& range, uintptr_t address, bool write, Writer& out) {
  const uintptr_t data = range.data, end = data + range.size;
  out.add(write ? "write " : "read ");
  if (address >= data && address < end) {
    out.add(range.read_only && write ? "to read-only " : "of ");
    out.add(range.name);
    out.add(" at offset ");
    return out.add(address - data);
  }
  const bool behind = address >= end;
  out.add(behind ? address - end : data - address);
  out.add(behind ? " bytes behind the end of " : " bytes before the start of ");
  out.add(range.name);
}

}  // namespace

size_t describe_address(uintptr_t address, bool write, char* text, size_t capacity) {
  Writer out(text, capacity);
  for (const NamedRange& range : ranges) {
    if (!range.used || address < range.begin || address >= range.end) continue;
    describe_within(range, address, write, out);
    return out.length();
  }
  out.add(write ? "write at address 0x" : "read at address 0x");
  out.add(address, 16);
  return out.length();
}

GuardedBuffer::GuardedBuffer(std::string_view name) : name_(name) {}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept : GuardedBuffer(other.name_) {
  *this = std::move(other);
}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  std::swap(slot_, other.slot_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() { unmap(); }

// The data part is a whole number of (huge) pages, so that a change of protection splits no huge
// page. The pattern before it has separate pages.
Status GuardedBuffer::map(size_t size) {
  unmap();
  const bool huge = size >= kHugePage;
  const size_t alignment = huge ? kHugePage : kPage;
  const size_t capacity = round_up(size + kGuard, alignment);
  const size_t bytes = kForbidden + kGuard + alignment + capacity + kForbidden;
  void* at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const size_t below = kForbidden + kGuard;
  const size_t offset = round_up(reinterpret_cast<uintptr_t>(at) + below, alignment) -
                        reinterpret_cast<uintptr_t>(at);
  std::byte* data = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at) + offset;
  const bool usable =
      at != MAP_FAILED && mprotect(data - kGuard, kGuard + capacity, PROT_READ | PROT_WRITE) == 0;
  if (!usable) {
    const int error = errno;
    if (at != MAP_FAILED) munmap(at, bytes);
    return system_error(fmt::format("no memory for {} of {} bytes", name_, size), error);
  }
  if (huge) madvise(data, capacity, MADV_HUGEPAGE);  // a hint
  mapping_ = static_cast<std::byte*>(at);
  mapping_bytes_ = bytes;
  data_ = data;
  capacity_ = capacity;
  std::memset(data_ - kGuard, static_cast<int>(kPattern), kGuard);
  return {};
}

void GuardedBuffer::unmap() {
  if (slot_ >= 0) ranges[slot_].used = false;
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  slot_ = -1;
  mapping_ = data_ = nullptr;
  mapping_bytes_ = capacity_ = size_ = 0;
}

Status GuardedBuffer::resize(size_t size) {
  if (data_ == nullptr || size + kGuard > capacity_) {
    TRY(map(size));
  }
  set_read_only(false);
  size_ = size;
  std::memset(data_ - kGuard, static_cast<int>(kPattern), kGuard);
  std::memset(data_ + size_, static_cast<int>(kPattern), kGuard);
  publish(false);
  return {};
}

void GuardedBuffer::set_read_only(bool read_only) {
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  CHECK(mprotect(data_ - kGuard, kGuard + capacity_, protection) == 0, "{}: mprotect: {}", name_,
        system_reason(errno));
  publish(read_only);
}

void GuardedBuffer::publish(bool read_only) {
  if (slot_ < 0) slot_ = take_slot();
  if (slot_ < 0) return;
  NamedRange& range = ranges[slot_];
  range.begin = reinterpret_cast<uintptr_t>(mapping_);
  range.end = range.begin + mapping_bytes_;
  range.data = reinterpret_cast<uintptr_t>(data_);
  range.size = size_;
  range.read_only = read_only;
  const size_t length = std::min(name_.size(), sizeof range.name - 1);
  std::memcpy(range.name, name_.data(), length);
  range.name[length] = '\0';
}

std::string GuardedBuffer::damage() const {
  if (data_ == nullptr) return {};
  const auto overwritten = [](std::byte byte) { return byte != kPattern; };
  const std::span before(data_ - kGuard, kGuard), behind(data_ + size_, kGuard);
  const auto text = [&](size_t distance, const char* where) {
    return fmt::format("the guard zone of {} was overwritten, {} bytes {}", name_, distance, where);
  };
  // The byte nearest to the start, and the first byte after the end.
  for (size_t k = 1; k <= kGuard; ++k) {
    if (overwritten(before[kGuard - k])) return text(k, "before its start");
  }
  const auto found = std::ranges::find_if(behind, overwritten);
  if (found == behind.end()) return {};
  return text(static_cast<size_t>(found - behind.begin()), "behind its end");
}

}  // namespace tilewright::measure
