// WireWriter, WireReader: a byte format for processes and files of one machine: numbers in native
// representation, texts and lists after their length. A reader does not trust its input: past the
// end it returns zeros and sets a failure flag, so a message of a dying process is harmless.
//
//   WireWriter to;
//   to.number(int32_t{7});
//   to.text("split");
//   WireReader from(bytes);   // bytes = std::move(to).take()
//   from.number<int32_t>();   // 7
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewright {

class WireWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    append(&value, sizeof value);
  }
  void text(std::string_view text) {
    number(uint64_t{text.size()});
    append(text.data(), text.size());
  }
  void bytes(std::span<const uint8_t> bytes) {
    text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void count(size_t items) { number(uint64_t{items}); }

  std::string take() && { return std::move(bytes_); }

 private:
  void append(const void* from, size_t bytes) {
    bytes_.append(static_cast<const char*>(from), bytes);
  }
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    T value{};
    const std::string_view from = take(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<uint64_t>())); }
  std::vector<uint8_t> bytes() {
    const std::string_view from = take(number<uint64_t>());
    return {from.begin(), from.end()};
  }
  // The length of a list whose items take at least `item_bytes` each; 0 if the remaining bytes are
  // too few.
  size_t count(size_t item_bytes) {
    const auto items = number<uint64_t>();
    if (items > rest_.size() / item_bytes) failed_ = true;
    return failed_ ? 0 : items;
  }

  bool failed() const { return failed_; }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace tilewright
