// For tests: the memory of arguments as bytes, and equality of elements.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/type.h"

namespace tilewright::codegen {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes bytes_of_values(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of_bytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// NaNs are equal, whatever their payload.
inline bool same_element(ir::Scalar type, const uint8_t* a, const uint8_t* b) {
  const auto size = static_cast<size_t>(ir::bytes_of(type));
  if (std::memcmp(a, b, size) == 0) return true;
  uint64_t x = 0;
  uint64_t y = 0;
  std::memcpy(&x, a, size);
  std::memcpy(&y, b, size);
  const auto is_nan = [type](uint64_t bits) {
    switch (type) {
      case ir::Scalar::F16:
        return (bits & 0x7fff) > 0x7c00;
      case ir::Scalar::BF16:
        return (bits & 0x7fff) > 0x7f80;
      case ir::Scalar::F32:
        return (bits & 0x7fffffff) > 0x7f800000;
      case ir::Scalar::F64:
        return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
      default:
        return false;
    }
  };
  return is_nan(x) && is_nan(y);
}

}  // namespace tilewright::codegen
