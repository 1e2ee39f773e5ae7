#include "ir/element.h"

#include <cstring>

namespace tilewright::ir {

double read_element(const std::byte* data, Scalar type, int64_t offset) {
  const std::byte* at = data + offset * bytes_of(type);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case Scalar::Bool:
    case Scalar::U8:
      return as(uint8_t{});
    case Scalar::U16:
      return as(uint16_t{});
    case Scalar::U32:
      return as(uint32_t{});
    case Scalar::I8:
      return as(int8_t{});
    case Scalar::I16:
      return as(int16_t{});
    case Scalar::I32:
      return as(int32_t{});
    case Scalar::I64:
      return static_cast<double>(as(int64_t{}));
    case Scalar::F16:
      return f32_from_f16(as(uint16_t{}));
    case Scalar::BF16:
      return f32_from_bf16(as(uint16_t{}));
    case Scalar::F32:
      return as(float{});
    case Scalar::F64:
      return as(double{});
  }
  return 0;
}

void write_element(std::byte* data, Scalar type, int64_t offset, double value) {
  std::byte* at = data + offset * bytes_of(type);
  const auto store = [&](const auto& stored) { std::memcpy(at, &stored, sizeof stored); };
  switch (type) {
    case Scalar::F16:
      return store(f16_from_f32(static_cast<float>(value)));
    case Scalar::BF16:
      return store(bf16_from_f32(static_cast<float>(value)));
    case Scalar::F32:
      return store(static_cast<float>(value));
    case Scalar::F64:
      return store(value);
    default: {
      const int64_t integer = wrap_integer(convert_to_integer(value, Scalar::I64), type);
      std::memcpy(at, &integer, static_cast<size_t>(bytes_of(type)));  // little-endian
    }
  }
}

}  // namespace tilewright::ir
