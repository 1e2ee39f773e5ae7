// Quantized operators, not optimized: integers minus their zero points are multiplied and summed as
// i32; scales are applied to the sums.
#include <fmt/format.h>

#include "onnx/convert/contract.h"
#include "onnx/convert/conv.h"
#include "onnx/convert/norm.h"
#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

// A scale or zero point for each block of `size` elements along an axis. Blocks of uneven size are
// expanded to one value per element.
Tensor spread_blocks(Conversion& node, Tensor values, Tensor x, size_t axis, int64_t size) {
  const bool sensible = size >= 1 && size <= kMaxExtent && x->shape()[axis] > 0;
  if (values->rank() != x->rank() || !sensible) {
    refuse(fmt::format("{} for blocks of {} of {}", values->type.to_string(), size,
                       x->type.to_string()));
  }
  const int64_t extent = x->shape()[axis];
  const int64_t blocks = values->shape()[axis];
  if (blocks != (extent + size - 1) / size) {
    refuse(fmt::format("{} blocks of {} for {}", blocks, size, x->type.to_string()));
  }
  if ((extent + blocks - 1) / blocks == size) return values;  // as the operator reads them
  Shape column = values->shape();
  column.insert(column.begin() + static_cast<ptrdiff_t>(axis) + 1, 1);
  Shape wide = column;
  wide[axis + 1] = size;
  Shape flat = values->shape();
  flat[axis] = product(Shape{blocks, size});
  const Tensor spread = node.reshape(node.broadcast(node.reshape(values, column), wide), flat);
  Shape whole = flat;
  whole[axis] = x->shape()[axis];
  return node.slice(spread, Shape(x->rank(), 0), whole, ones(x->rank()));
}

struct Scaling {
  int64_t axis;
  Tensor scale;
  Tensor zero;  // null: 0
};

Scaling scaling_of(Conversion& node) {
  const Tensor x = node.operand(0);
  Tensor scale = node.operand(1);
  Tensor zero = node.optional_operand(2);
  const int64_t given = node.attributes().integer("axis", 1);
  const int64_t size = node.attributes().integer("block_size", 0);
  if (scale->type.elements() == 1 && scale->rank() <= 1) {
    scale = node.reshape(scale, {});
    if (zero != nullptr && zero->type.elements() == 1) zero = node.reshape(zero, {});
    return {.axis = 0, .scale = scale, .zero = zero};
  }
  const size_t axis = resolve_axis(given, x->rank());
  if (size != 0) {
    scale = spread_blocks(node, scale, x, axis, size);
    if (zero != nullptr) zero = spread_blocks(node, zero, x, axis, size);
  }
  return {.axis = static_cast<int64_t>(axis), .scale = scale, .zero = zero};
}

Scalar wanted_type(Conversion& node, std::string_view attribute, Scalar fallback) {
  const int64_t type = node.attributes().integer(attribute, 0);
  if (type == 0) return fallback;
  const auto element =
      type == static_cast<int32_t>(type) ? element_of(static_cast<int32_t>(type)) : std::nullopt;
  if (!element) not_supported(fmt::format("to {}", data_type_name(static_cast<int32_t>(type))));
  return *element;
}

std::vector<Tensor> convert_quantize(Conversion& node) {
  const auto [axis, scale, zero] = scaling_of(node);
  if (node.has(2) && node.operand(2)->packed) not_supported("to four-bit integers");
  const Scalar to =
      wanted_type(node, "output_dtype", zero != nullptr ? zero->element() : Scalar::U8);
  if (zero != nullptr && zero->element() != to) refuse("output_dtype is not the type of zero");
  const Tensor x = node.operand(0);
  const Tensor wide = ir::is_float(x->element()) ? x : node.cast(x, Scalar::F32);
  return {node.result("quantize_linear", {{"axis", axis}, {"to", std::string(ir::name_of(to))}},
                      {wide, node.cast(scale, wide->element()), zero})};
}

std::vector<Tensor> convert_dequantize(Conversion& node) {
  const auto [axis, scale, zero] = scaling_of(node);
  const Tensor y =
      node.result("dequantize_linear", {{"axis", axis}}, {node.operand(0), scale, zero});
  return {node.cast(y, wanted_type(node, "output_dtype", scale->element()))};
}

// As i32 minus the zero point, which is reshaped to `shape` if it is not a scalar.
Tensor centered(Conversion& node, Tensor x, Tensor zero, const Shape& shape) {
  const Tensor wide = node.cast(x, Scalar::I32);
  if (zero == nullptr) return wide;
  const Tensor less = node.cast(zero, Scalar::I32);
  const bool is_scalar = zero->type.elements() == 1;
  return node.emit("sub", {wide, is_scalar           ? node.reshape(less, {})
                                 : zero->rank() <= 1 ? node.reshape(less, shape)
                                                     : less});
}

// [n] as a column, which broadcasts along the rows of a matrix; other shapes unchanged.
Tensor per_row(Conversion& node, Tensor values) {
  if (values->rank() != 1) return values;
  return node.reshape(values,
                      values->type.elements() == 1 ? Shape{} : Shape{values->type.elements(), 1});
}

Tensor integer_matmul(Conversion& node, Tensor a, Tensor a_zero, Tensor b, Tensor b_zero) {
  const Tensor left =
      centered(node, a, a_zero, {a_zero == nullptr ? 1 : a_zero->type.elements(), 1});
  const Tensor right = centered(node, b, b_zero, {b_zero == nullptr ? 1 : b_zero->type.elements()});
  return matmul(node, left, right);
}

Tensor integer_conv(Conversion& node, Tensor x, Tensor x_zero, Tensor w, Tensor w_zero) {
  Shape filters = ones(std::max<size_t>(w->rank(), 1));
  if (w_zero != nullptr) filters[0] = w_zero->type.elements();
  return convolve(node, centered(node, x, x_zero, {}), centered(node, w, w_zero, filters));
}

// Sums times scale, as f32, requantized.
Tensor requantized(Conversion& node, Tensor sums, Tensor scale, size_t y_scale) {
  const Tensor exact =
      node.emit("mul", {node.cast(sums, Scalar::F32), node.cast(scale, Scalar::F32)});
  const Tensor zero = node.operand(y_scale + 1);
  const Tensor step = node.cast(node.operand(y_scale), Scalar::F32);
  if (step->type.elements() != 1 || zero->type.elements() != 1) {
    not_supported("a scale of the result for each row");
  }
  return node.result("quantize_linear",
                     {{"axis", int64_t{0}}, {"to", std::string(ir::name_of(zero->element()))}},
                     {exact, node.reshape(step, {}), node.reshape(zero, {})});
}

std::vector<Tensor> convert_matmul_integer(Conversion& node) {
  return {integer_matmul(node, node.operand(0), node.optional_operand(2), node.operand(1),
                         node.optional_operand(3))};
}

std::vector<Tensor> convert_qlinear_matmul(Conversion& node) {
  const Tensor sums =
      integer_matmul(node, node.operand(0), node.operand(2), node.operand(3), node.operand(5));
  const Tensor b_scale = node.operand(4);
  const Tensor scale = node.emit(
      "mul", {node.cast(per_row(node, node.operand(1)), Scalar::F32),
              node.cast(b_scale->type.elements() == 1 ? node.reshape(b_scale, {}) : b_scale,
                        Scalar::F32)});
  return {requantized(node, sums, scale, 6)};
}

std::vector<Tensor> convert_conv_integer(Conversion& node) {
  return {integer_conv(node, node.operand(0), node.optional_operand(2), node.operand(1),
                       node.optional_operand(3))};
}

std::vector<Tensor> convert_qlinear_conv(Conversion& node) {
  Tensor sums =
      integer_conv(node, node.operand(0), node.operand(2), node.operand(3), node.operand(5));
  if (node.has(8)) sums = node.emit("add", {sums, per_channel(node, node.operand(8), sums)});
  Tensor w_scale = node.operand(4);
  w_scale =
      w_scale->type.elements() == 1 ? node.reshape(w_scale, {}) : per_channel(node, w_scale, sums);
  const Tensor x_scale = node.operand(1);
  if (x_scale->type.elements() != 1) refuse("a scale of x that is not a scalar");
  return {requantized(node, sums, node.emit("mul", {node.reshape(x_scale, {}), w_scale}), 6)};
}

// Quantizes x with the scale and zero point of its range.
std::vector<Tensor> convert_dynamic_quantize(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape axes = iota(x->rank());
  const Tensor nothing = node.number(0, x->element());
  const Tensor min_x = node.emit("min", {node.reduce(x, "min", axes, false), nothing});
  const Tensor max_x = node.emit("max", {node.reduce(x, "max", axes, false), nothing});
  const Tensor steps = node.number(255, x->element());
  const Tensor scale = node.result("div", {}, {node.emit("sub", {max_x, min_x}), steps}, 1);
  const Tensor offset = node.emit("div", {node.emit("neg", {min_x}), scale});
  const Tensor bounded = node.emit("clip", {node.emit("round", {offset}), nothing, steps});
  const Tensor zero = node.result("cast", {{"to", "u8"}}, {bounded}, 2);
  const Tensor y =
      node.result("quantize_linear", {{"axis", int64_t{0}}, {"to", "u8"}}, {x, scale, zero});
  return {y, scale, zero};
}

constexpr ConverterRow kRows[] = {
    {"ConvInteger", convert_conv_integer},
    {"DequantizeLinear", convert_dequantize},
    {"DequantizeLinear", convert_dequantize, kMicrosoft},
    {"DynamicQuantizeLinear", convert_dynamic_quantize},
    {"MatMulInteger", convert_matmul_integer},
    {"QLinearConv", convert_qlinear_conv},
    {"QLinearMatMul", convert_qlinear_matmul},
    {"QuantizeLinear", convert_quantize},
    {"QuantizeLinear", convert_quantize, kMicrosoft},
};

}  // namespace

std::span<const ConverterRow> quantize_converters() { return kRows; }

}  // namespace tilewright::onnx
