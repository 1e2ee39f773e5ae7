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

// The bits of a float; of the zero of its sign if it is a denormal that counts as zero.
inline uint64_t flushed_bits(ir::Scalar type, uint64_t bits) {
  const auto with = [bits](uint64_t exponent, uint64_t sign) {
    return (bits & exponent) == 0 ? bits & sign : bits;
  };
  switch (type) {
    case ir::Scalar::BF16:
      return with(0x7f80, 0x8000);
    case ir::Scalar::F32:
      return with(0x7f800000, 0x80000000);
    case ir::Scalar::F64:
      return with(0x7ff0000000000000, 0x8000000000000000);
    default:
      return bits;
  }
}

// NaNs are equal for any payload. Unless denormals are kept, they count as zeros of their sign.
inline bool same_element(ir::Scalar type, const uint8_t* a, const uint8_t* b,
                         bool denormals = true) {
  const auto size = static_cast<size_t>(ir::bytes_of(type));
  if (std::memcmp(a, b, size) == 0) return true;
  uint64_t x = 0;
  uint64_t y = 0;
  std::memcpy(&x, a, size);
  std::memcpy(&y, b, size);
  if (!denormals && flushed_bits(type, x) == flushed_bits(type, y)) return true;
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
