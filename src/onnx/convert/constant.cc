// Operators that generate tensors from numbers and shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/element.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;
using ir::Scalar;

constexpr int64_t kMaxElements = int64_t{1} << 24;  // of a generated constant

void announce(Conversion& node, const Shape& shape, Scalar element) {
  if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; })) {
    refuse(fmt::format("the shape {}", shape_text(shape)));
  }
  if (product(shape) > kMaxElements) {
    not_supported(fmt::format("a constant of the shape {}: more than {} elements",
                              shape_text(shape), kMaxElements));
  }
  node.charge({.element = element, .shape = shape});
}

Constant of_numbers(Shape shape, std::span<const double> values, Scalar element) {
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(ir::bytes_of(element)));
  for (size_t k = 0; k < values.size(); ++k) {
    ir::write_element(bytes.data(), element, static_cast<int64_t>(k), values[k]);
  }
  return Constant::of_bytes({.element = element, .shape = std::move(shape)}, std::move(bytes));
}

std::vector<Tensor> convert_constant(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  if (attributes.has("value")) return {node.constant(attributes.tensor("value"))};
  if (attributes.has("value_float")) {
    return {node.number(attributes.number("value_float", 0), Scalar::F32)};
  }
  if (attributes.has("value_int")) {
    const int64_t value[] = {attributes.integer("value_int")};
    return {node.constant(Constant::of_integers({}, value))};
  }
  if (attributes.has("value_ints")) return {node.integers(attributes.list("value_ints"))};
  if (attributes.has("value_floats")) {
    const std::vector<double> values = attributes.numbers("value_floats");
    if (values.empty()) return {node.empty({.element = Scalar::F32, .shape = {0}})};
    return {node.constant(of_numbers({static_cast<int64_t>(values.size())}, values, Scalar::F32))};
  }
  not_supported("a constant of texts or a sparse one, or without a value");
}

std::vector<Tensor> convert_constant_of_shape(Conversion& node) {
  const Shape shape = node.known_integers(0, "shape");
  if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; })) {
    refuse(fmt::format("the shape {}", shape_text(shape)));
  }
  const Constant value = node.attributes().has("value") ? node.attributes().tensor("value")
                                                        : Constant::of_number(0, Scalar::F32);
  if (value.type().elements() != 1) {
    refuse(fmt::format("the value is {}, not one element", value.type().to_string()));
  }
  return {node.broadcast(node.constant(value.reshaped({})), shape)};
}

// start, start + delta, ... below (above, for a negative delta) limit
std::vector<Tensor> convert_range(Conversion& node) {
  const Scalar element = node.operand(0)->element();
  if (!ir::is_float(element)) {
    const __int128 start = node.known_integer(0, "start");
    const __int128 limit = node.known_integer(1, "limit");
    const __int128 delta = node.known_integer(2, "delta");
    if (delta == 0) refuse("delta is 0");
    const __int128 span = delta > 0 ? limit - start : start - limit;
    const __int128 step = delta > 0 ? delta : -delta;
    const __int128 count = span <= 0 ? 0 : (span + step - 1) / step;
    if (count > kMaxElements) not_supported("a range of this size");
    if (count == 0) return {node.empty({.element = element, .shape = {0}})};
    announce(node, {static_cast<int64_t>(count)}, element);
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = static_cast<int64_t>(start + delta * static_cast<__int128>(k));
    }
    return {node.constant(Constant::of_integers({static_cast<int64_t>(count)}, values, element))};
  }
  const double start = node.known_number(0, "start");
  const double limit = node.known_number(1, "limit");
  const double delta = node.known_number(2, "delta");
  const double count = std::max(std::ceil((limit - start) / delta), 0.0);
  if (!(count <= static_cast<double>(kMaxElements))) {
    not_supported(fmt::format("a range from {} to {} by {}", start, limit, delta));
  }
  if (count == 0) return {node.empty({.element = element, .shape = {0}})};
  announce(node, {static_cast<int64_t>(count)}, element);
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t k = 0; k < values.size(); ++k) values[k] = start + delta * static_cast<double>(k);
  return {node.constant(of_numbers({static_cast<int64_t>(count)}, values, element))};
}

std::vector<Tensor> convert_eye_like(Conversion& node) {
  const Tensor x = node.operand(0);
  if (x->rank() != 2) refuse(fmt::format("of {}", x->type.to_string()));
  Scalar element = x->element();
  if (node.attributes().has("dtype")) {
    const int64_t wanted = node.attributes().integer("dtype");
    const auto type = static_cast<int32_t>(wanted);
    const auto known = type == wanted ? element_of(type) : std::nullopt;
    if (!known) not_supported(fmt::format("of {}", data_type_name(type)));
    element = *known;
  }
  if (x->type.elements() == 0) return {node.empty({.element = element, .shape = x->shape()})};
  announce(node, x->shape(), element);
  const int64_t diagonal = node.attributes().integer("k", 0);
  const int64_t columns = x->shape()[1];
  std::vector<double> values(static_cast<size_t>(x->type.elements()), 0);
  for (int64_t row = 0; row < x->shape()[0]; ++row) {
    int64_t column = 0;
    if (__builtin_add_overflow(row, diagonal, &column) || column < 0 || column >= columns) continue;
    values[static_cast<size_t>(row * columns + column)] = 1;
  }
  return {node.constant(of_numbers(x->shape(), values, element))};
}

// The indices of the nonzero elements, one column per element.
std::vector<Tensor> convert_non_zero(Conversion& node) {
  const Constant x = node.known(0, "operand");
  const Shape& shape = x.type().shape;
  announce(node, shape, Scalar::I64);
  std::vector<int64_t> places;
  for (int64_t k = 0; k < x.type().elements(); ++k) {
    if (x.number(k) != 0) places.push_back(k);
  }
  const auto count = static_cast<int64_t>(places.size());
  const auto rank = static_cast<int64_t>(shape.size());
  if (count == 0 || rank == 0)
    return {node.empty({.element = Scalar::I64, .shape = {rank, count}})};
  std::vector<int64_t> indices(static_cast<size_t>(rank * count));
  for (size_t k = 0; k < places.size(); ++k) {
    int64_t rest = places[k];
    for (size_t d = shape.size(); d-- > 0;) {
      indices[d * places.size() + k] = rest % shape[d];
      rest /= shape[d];
    }
  }
  return {node.constant(Constant::of_integers({rank, count}, indices))};
}

std::vector<Tensor> convert_one_hot(Conversion& node) {
  const double depth = node.known_number(1, "depth");
  if (!(depth >= 1 && depth <= static_cast<double>(kMaxElements))) {
    refuse(fmt::format("the depth {}", depth));
  }
  const auto extent = static_cast<int64_t>(depth);
  const Tensor indices = node.cast(node.operand(0), Scalar::I64);
  const int64_t axis = node.attributes().integer("axis", -1);
  const Tensor values = node.operand(2);
  if (values->shape() != Shape{2})
    refuse(fmt::format("the values are {}", values->type.to_string()));
  const Tensor hot =
      node.emit("one_hot",
                {{"depth", extent},
                 {"axis", static_cast<int64_t>(resolve_axis(axis, indices->rank() + 1))},
                 {"on", 1.0},
                 {"off", 0.0},
                 {"to", "bool"}},
                {indices});
  const Tensor off = node.reshape(node.slice(values, {0}, {1}, {1}), {});
  const Tensor on = node.reshape(node.slice(values, {1}, {1}, {1}), {});
  return {node.result("where", {hot, on, off})};
}

// The window functions of signal processing: a sum of cosines.
template <int numerators0, int numerators1, int numerators2, int denominator>
std::vector<Tensor> convert_window(Conversion& node) {
  const int64_t size = node.known_integer(0, "size");
  const int64_t type = node.attributes().integer("output_datatype", 1);
  const auto element =
      type == static_cast<int32_t>(type) ? element_of(static_cast<int32_t>(type)) : std::nullopt;
  if (!element) not_supported("of that type");
  announce(node, {size}, *element);
  const bool periodic = node.attributes().integer("periodic", 1) != 0;
  const double period = static_cast<double>(periodic ? size : size - 1);
  std::vector<double> values(static_cast<size_t>(size));
  for (size_t k = 0; k < values.size(); ++k) {
    const double angle = 2 * 3.14159265358979323846 * static_cast<double>(k) / period;
    values[k] = (numerators0 - numerators1 * std::cos(angle) + numerators2 * std::cos(2 * angle)) /
                static_cast<double>(denominator);
  }
  if (size == 0) return {node.empty({.element = *element, .shape = {0}})};
  return {node.constant(of_numbers({size}, values, *element))};
}

constexpr ConverterRow kRows[] = {
    {"BlackmanWindow", convert_window<42, 50, 8, 100>},
    {"Constant", convert_constant},
    {"ConstantOfShape", convert_constant_of_shape},
    {"EyeLike", convert_eye_like},
    {"HammingWindow", convert_window<25, 21, 0, 46>},
    {"HannWindow", convert_window<1, 1, 0, 2>},
    {"NonZero", convert_non_zero},
    {"OneHot", convert_one_hot},
    {"Range", convert_range},
};

}  // namespace

std::span<const ConverterRow> constant_converters() { return kRows; }

}  // namespace tilewright::onnx
