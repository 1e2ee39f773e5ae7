#include "measure/element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace tilewright::measure {

std::vector<int64_t> shape_of(const te::Tensor& tensor) {
  std::vector<int64_t> shape;
  shape.reserve(tensor.shape.size());
  for (const te::Extent& extent : tensor.shape) shape.push_back(extent.high);
  return shape;
}

int64_t elements_of(const te::Tensor& tensor) {
  int64_t elements = 1;
  for (const te::Extent& extent : tensor.shape) elements *= extent.high;
  return elements;
}

size_t bytes_of(const te::Tensor& tensor) {
  return static_cast<size_t>(elements_of(tensor) * ir::bytes_of(tensor.element));
}

double read_element(const std::byte* data, ir::Scalar type, int64_t offset) {
  const std::byte* at = data + offset * ir::bytes_of(type);
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case ir::Scalar::Bool:
    case ir::Scalar::U8:
      return as(uint8_t{});
    case ir::Scalar::I8:
      return as(int8_t{});
    case ir::Scalar::I16:
      return as(int16_t{});
    case ir::Scalar::I32:
      return as(int32_t{});
    case ir::Scalar::I64:
      return static_cast<double>(as(int64_t{}));
    case ir::Scalar::F16:
      return ir::f32_from_f16(as(uint16_t{}));
    case ir::Scalar::BF16:
      return ir::f32_from_bf16(as(uint16_t{}));
    case ir::Scalar::F32:
      return as(float{});
    case ir::Scalar::F64:
      return as(double{});
  }
  return 0;
}

void write_element(std::byte* data, ir::Scalar type, int64_t offset, double value) {
  std::byte* at = data + offset * ir::bytes_of(type);
  const auto store = [&](const auto& stored) { std::memcpy(at, &stored, sizeof stored); };
  switch (type) {
    case ir::Scalar::F16:
      return store(ir::f16_from_f32(static_cast<float>(value)));
    case ir::Scalar::BF16:
      return store(ir::bf16_from_f32(static_cast<float>(value)));
    case ir::Scalar::F32:
      return store(static_cast<float>(value));
    case ir::Scalar::F64:
      return store(value);
    default: {
      const int64_t integer = ir::wrap_integer(static_cast<int64_t>(value), type);
      std::memcpy(at, &integer, static_cast<size_t>(ir::bytes_of(type)));  // little-endian
    }
  }
}

std::vector<int64_t> indices_of(const te::Tensor& tensor, int64_t offset) {
  std::vector<int64_t> indices(tensor.shape.size());
  for (size_t d = indices.size(); d-- > 0;) {
    indices[d] = offset % tensor.shape[d].high;
    offset /= tensor.shape[d].high;
  }
  return indices;
}

std::string print_element(const te::Tensor& tensor, int64_t offset) {
  return fmt::format("{}[{}]", tensor.name.text(), fmt::join(indices_of(tensor, offset), ", "));
}

}  // namespace tilewright::measure
