// A vector of at most N elements with inline storage; it never allocates. For the small arrays of
// steps, affine forms and regions, which are copied millions of times. Overflow is a CHECK: code
// that fills one from user input tests full() first and returns an Error.
//
// A vector of small elements is trivially copyable: a copy moves its whole storage, and arrays of
// structures with such vectors are copied as bytes. A copy of larger elements costs as much as the
// vector holds, so N may be generous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "base/check.h"

namespace tilewright {

template <class T, size_t N>
class InlineVector {
 public:
  using value_type = T;
  static constexpr size_t kCapacity = N;
  static constexpr bool kCopiedWhole = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;

  constexpr InlineVector() {
    if consteval {  // a constant expression must initialize every element
      for (size_t k = 0; k < N; ++k) items_[k] = T{};
    }
  }
  constexpr InlineVector(std::initializer_list<T> items) : InlineVector() {
    for (const T& item : items) push_back(item);
  }
  constexpr InlineVector(const InlineVector&)
    requires(kCopiedWhole)
  = default;
  constexpr InlineVector& operator=(const InlineVector&)
    requires(kCopiedWhole)
  = default;
  constexpr InlineVector(const InlineVector& other) noexcept : InlineVector() { copy(other); }
  constexpr InlineVector& operator=(const InlineVector& other) noexcept {
    if (this != &other) copy(other);
    return *this;
  }

  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr bool full() const { return size_ == N; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(size_t size) {
    CHECK(size <= N, "InlineVector of {} cannot hold {}", N, size);
    for (size_t k = size_; k < size; ++k) std::construct_at(items_ + k);
    size_ = static_cast<uint32_t>(size);
  }
  constexpr void push_back(const T& item) {
    CHECK(size_ < N, "InlineVector of {} is full", N);
    std::construct_at(items_ + size_, item);
    ++size_;
  }
  constexpr void erase_at(size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }
  constexpr void insert_at(size_t position, const T& item) {
    CHECK(size_ < N, "InlineVector of {} is full", N);
    const T added = item;  // `item` may be an element that moves
    push_back(added);
    std::copy_backward(begin() + position, end() - 1, end());
    items_[position] = added;
  }

  constexpr T& operator[](size_t k) { return items_[k]; }
  constexpr const T& operator[](size_t k) const { return items_[k]; }
  constexpr T& back() { return items_[size_ - 1]; }
  constexpr const T& back() const { return items_[size_ - 1]; }
  constexpr T* begin() { return items_; }
  constexpr T* end() { return items_ + size_; }
  constexpr const T* begin() const { return items_; }
  constexpr const T* end() const { return items_ + size_; }

  constexpr bool operator==(const InlineVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  // Elements that every copy moves, used or not: a few vector moves cost less than a loop of
  // unknown length.
  static constexpr size_t kCopied = std::min(N, std::max<size_t>(1, 64 / sizeof(T)));

  constexpr void copy(const InlineVector& other) {
    size_ = other.size_;
    if constexpr (std::is_trivially_copyable_v<T>) {
      if !consteval {
        std::memcpy(items_, other.items_, kCopied * sizeof(T));
        if (kCopied < N && size_ > kCopied) {
          std::memcpy(items_ + kCopied, other.items_ + kCopied, (size_ - kCopied) * sizeof(T));
        }
        return;
      }
    }
    for (size_t k = 0; k < size_; ++k) std::construct_at(items_ + k, other.items_[k]);
  }

  union {         // elements beyond size_ are uninitialized: an empty vector costs nothing
    T items_[N];  // NOLINT(readability-identifier-naming): a member of the class
  };
  uint32_t size_ = 0;
};

}  // namespace tilewright
