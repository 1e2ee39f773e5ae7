// Elementwise operators with parameters per channel: one stage Y of x's shape.
//
//   quantize_linear(x, scale, zero?; axis=1, to)
//                                round(x / scale) + zero, saturated, ties to even; `to` is an
//                                integer type, that of zero if given
//   dequantize_linear(x, scale, zero?; axis=1)
//                                (x - zero) * scale, of the type of scale
//     A scale and its zero have one element, one per element of dimension `axis`, or as many
//     dimensions as x: then each applies to a block along `axis`.
//   batch_norm(x, scale, bias, mean, var; axis=1, epsilon=1e-5)
//                                (x - mean) * (scale / sqrt(var + epsilon)) + bias
#include <fmt/format.h>

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

using ir::Expr;
using ir::Scalar;

// Maps an element of x to its element of a scale.
class ScaleIndexing {
 public:
  static Result<ScaleIndexing> make(const OpDef& op, const TensorType& x, const TensorType& scale,
                                    const Attributes& attributes) {
    ScaleIndexing indexing;
    indexing.rank_ = scale.shape.size();
    if (scale.elements() == 1) {
      indexing.single_ = true;
      return indexing;
    }
    Reader read(op, attributes);
    indexing.axis_ = read.axis("axis", 1, x.shape.size());
    TRY(read.status());
    if (scale.shape.size() == 1 && scale.shape[0] == x.shape[indexing.axis_]) return indexing;
    bool fits = scale.shape.size() == x.shape.size();
    for (size_t d = 0; fits && d < x.shape.size(); ++d) {
      fits = d == indexing.axis_ ? scale.shape[d] <= x.shape[d] : scale.shape[d] == x.shape[d];
    }
    if (!fits) {
      return bad(op, fmt::format("a scale of {} along dimension {} of {}", shape_text(scale.shape),
                                 indexing.axis_, x.to_string()));
    }
    const int64_t blocks = scale.shape[indexing.axis_];
    indexing.block_ = (x.shape[indexing.axis_] + blocks - 1) / blocks;
    return indexing;
  }

  Expr read(const te::DagBuilder& builder, te::TensorId tensor,
            const std::vector<te::Axis>& axes) const {
    if (single_) return builder.read(tensor, std::vector<Expr>(rank_, ir::int_imm(0)));
    if (block_ == 0) return builder.read(tensor, {axes[axis_].var});
    std::vector<Expr> at = te::vars_of(axes);
    if (block_ > 1) at[axis_] = at[axis_] / block_;
    return builder.read(tensor, std::move(at));
  }

 private:
  size_t rank_ = 0, axis_ = 0;
  int64_t block_ = 0;  // 0: one element of the scale per element of the axis
  bool single_ = false;
};

Status check_scale(const OpDef& op, OperandTypes operands) {
  const TensorType& scale = *operands[1];
  if (!ir::is_float(scale.element)) {
    return bad(op, fmt::format("a scale of type {}", ir::name_of(scale.element)));
  }
  if (has(operands, 2) && operands[2]->shape != scale.shape) {
    return bad(op, fmt::format("zero of {} and scale of {} should have one shape",
                               operands[2]->to_string(), scale.to_string()));
  }
  return {};
}

// An element of x, with its scale and its zero point (null: none).
struct Element {
  te::DagBuilder builder;
  std::vector<te::Axis> axes;
  Expr value, scale, zero;
};

Result<Element> read_element(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &scale = *operands[1];
  const ScaleIndexing indexing = TRY(ScaleIndexing::make(op, x, scale, attributes));
  Element element;
  te::DagBuilder& builder = element.builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId scales = placeholder(builder, "scale", scale);
  te::TensorId zeros = 0;
  if (has(operands, 2)) zeros = placeholder(builder, "zero", *operands[2]);
  element.axes = te::axes_of(builder, x.shape);
  element.value = builder.read(from, te::vars_of(element.axes));
  element.scale = indexing.read(builder, scales, element.axes);
  if (has(operands, 2)) element.zero = indexing.read(builder, zeros, element.axes);
  return element;
}

DagResult build_quantize(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  Reader read(op, attributes);
  const Scalar to = has(operands, 2) ? operands[2]->element : read.scalar("to");
  TRY(read.status());
  TRY(require_number(op, operands[0]->element));
  TRY(require_integer(op, to));
  TRY(check_scale(op, operands));
  Element at = TRY(read_element(op, attributes, operands));
  const Expr value = ir::cast(Scalar::F32, at.value);
  const Expr divisor = ir::cast(Scalar::F32, at.scale);
  Expr rounded = call(ir::Intrinsic::Round, value / divisor);
  if (at.zero.defined()) rounded = rounded + ir::cast(Scalar::F32, at.zero);
  return finish(std::move(at.builder), at.axes, rounded, to);
}

DagResult build_dequantize(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &scale = *operands[1];
  TRY(require_integer(op, x.element));
  TRY(check_scale(op, operands));
  if (has(operands, 2) && operands[2]->element != x.element) {
    return bad(op, fmt::format("zero of {} for {}", operands[2]->to_string(), x.to_string()));
  }
  Element at = TRY(read_element(op, attributes, operands));
  const bool needs_i64 = x.element == Scalar::I64 || x.element == Scalar::U32;
  const Scalar wide = needs_i64 ? Scalar::I64 : Scalar::I32;
  Expr value = ir::cast(wide, at.value);
  if (at.zero.defined()) value = value - ir::cast(wide, at.zero);
  const Expr result = ir::cast(at.scale.type().scalar, value) * at.scale;
  return finish(std::move(at.builder), at.axes, result, scale.element);
}

DagResult build_batch_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  TRY(require_float(op, x.element));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 1, x.shape.size());
  const double epsilon = read.number("epsilon", 1e-5);
  TRY(read.status());
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  constexpr std::string_view kNames[] = {"", "scale", "shift", "mean", "variance"};
  te::TensorId channels[5] = {};
  for (size_t k = 1; k < 5; ++k) {
    if (operands[k]->shape != Shape{x.shape[axis]} || !ir::is_float(operands[k]->element)) {
      return bad(op, fmt::format("{} is {}; it should have a float for each of {} channels",
                                 kNames[k], operands[k]->to_string(), x.shape[axis]));
    }
    channels[k] = placeholder(builder, kNames[k], *operands[k]);
  }
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const Expr value = builder.read(from, te::vars_of(axes));
  const auto channel = [&](size_t k) {
    return ir::cast(value.type().scalar, builder.read(channels[k], {axes[axis].var}));
  };
  const Expr deviation = call(ir::Intrinsic::Sqrt, channel(4) + number(epsilon, value));
  const Expr result = (value - channel(3)) * (channel(1) / deviation) + channel(2);
  return finish(std::move(builder), axes, result, x.element);
}

constexpr OpDef kOps[] = {
    {"quantize_linear", Work::Map, 2, 3, build_quantize},
    {"dequantize_linear", Work::Map, 2, 3, build_dequantize},
    {"batch_norm", Work::Map, 5, 5, build_batch_norm},
};

}  // namespace

std::span<const OpDef> quantize_ops() { return kOps; }

}  // namespace tilewright::graph
