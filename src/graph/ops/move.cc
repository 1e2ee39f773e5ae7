// Operators that move elements: one stage Y, of any type.
//
//   reshape(x; shape)                     the same bytes; all extents are given
//   transpose(x; perm)                    dimension d of Y is dimension perm[d] of x
//   broadcast(x; shape)                   as NumPy's broadcast_to
//   slice(x; begin, size, step=1)         Y[i] = x[begin + i step]; a step may be negative
//   concat(x...; axis)
//   pad(x, value?; before, after, mode=constant|edge|reflect|wrap)     value 0 without an operand;
//                                         a negative number drops elements
//   tile(x; repeats)
//   trilu(x; upper=1, k=0)                the triangle of each matrix (last two dimensions) from
//                                         diagonal k on, up or down; 0 elsewhere
#include <fmt/format.h>

#include "graph/ops/common.h"
#include "graph/ops/families.h"
#include "te/ops/concat.h"
#include "te/ops/pad.h"
#include "te/ops/reshape.h"
#include "te/ops/slice.h"

namespace tilewright::graph {
namespace {

using ir::Expr;

// The shape in an attribute.
Result<Shape> shape_of(const OpDef& op, const Attributes& attributes) {
  const Shape& shape = attributes.list("shape");
  TRY(require_result(op, shape));
  return shape;
}

DagResult build_reshape(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const auto shape = TRY(shape_of(op, attributes));
  return te::reshape(operands[0]->shape, shape, operands[0]->element);
}

DagResult build_transpose(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const auto rank = static_cast<int64_t>(operands[0]->shape.size());
  Reader read(op, attributes);
  const Shape perm =
      read.list("perm", operands[0]->shape.size(), 0, std::max<int64_t>(rank - 1, 0));
  TRY(read.status());
  return te::transpose(operands[0]->shape, perm, operands[0]->element);
}

DagResult build_broadcast(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const auto shape = TRY(shape_of(op, attributes));
  if (!broadcasts_to(operands[0]->shape, shape)) {
    return bad(
        op, fmt::format("{} cannot become {}", shape_text(operands[0]->shape), shape_text(shape)));
  }
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", *operands[0]);
  const std::vector<te::Axis> axes = te::axes_of(builder, shape);
  const Expr value = read_broadcast(builder, x, axes);
  return finish(std::move(builder), axes, value, operands[0]->element);
}

DagResult build_slice(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  const size_t rank = x.shape.size();
  Reader read(op, attributes);
  te::SliceShape shape{.shape = x.shape,
                       .begin = read.list("begin", rank, 0, te::kMaxParameter, 0),
                       .size = read.list("size", rank, 0, te::kMaxParameter),
                       .step = read.list("step", rank, -te::kMaxParameter, te::kMaxParameter, 1),
                       .element = x.element};
  TRY(read.status());
  TRY(require_result(op, shape.size));
  if (rank == 0) return te::reshape(x.shape, x.shape, x.element);
  return te::slice(shape);
}

DagResult build_concat(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 0, operands[0] ? operands[0]->shape.size() : 0);
  TRY(read.status());
  Shape shape = operands[0]->shape;
  Shape parts = {shape[axis]};
  for (size_t k = 1; k < operands.size(); ++k) {
    if (!operands[k]) return bad(op, fmt::format("operand {} is left out", k));
    Shape other = operands[k]->shape;
    const bool same_rank = other.size() == shape.size();
    if (same_rank) {
      parts.push_back(other[axis]);
      other[axis] = parts[0];
    }
    if (!same_rank || other != operands[0]->shape || operands[k]->element != operands[0]->element) {
      return bad(op, fmt::format("{} and {} cannot be joined along dimension {}",
                                 operands[0]->to_string(), operands[k]->to_string(), axis));
    }
    shape[axis] += parts.back();
  }
  TRY(require_result(op, shape));
  return te::concat(shape, static_cast<int64_t>(axis), parts, operands[0]->element);
}

// Constant padding whose value is an operand.
DagResult pad_with(const TensorType& x, const TensorType& value, const Shape& before,
                   const Shape& bordered) {
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId fill = placeholder(builder, "V", value);
  const std::vector<te::Axis> axes = te::axes_of(builder, bordered);
  std::vector<Expr> indices;
  Expr inside;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Expr& at = axes[d].var;
    indices.push_back(before[d] == 0 ? at : at - before[d]);
    if (before[d] > 0) inside = also(inside, at >= before[d]);
    if (bordered[d] > before[d] + x.shape[d]) inside = also(inside, at < before[d] + x.shape[d]);
  }
  Expr element = builder.read(from, std::move(indices));
  if (inside.defined()) {
    const std::vector<Expr> zeros(value.shape.size(), ir::int_imm(0));
    element = ir::select(inside, element, builder.read(fill, zeros));
  } else {  // keeps the operand in the Dag
    const std::vector<Expr> zeros(value.shape.size(), ir::int_imm(0));
    element = ir::select(ir::int_imm(1) < 0, builder.read(fill, zeros), element);
  }
  return finish(std::move(builder), axes, element, x.element);
}

DagResult build_pad(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  constexpr std::string_view kModes[] = {"constant", "edge", "reflect", "wrap"};
  const TensorType& x = *operands[0];
  const size_t rank = x.shape.size();
  Reader read(op, attributes);
  const Shape before = read.list("before", rank, -te::kMaxParameter, te::kMaxParameter, 0);
  const Shape after = read.list("after", rank, -te::kMaxParameter, te::kMaxParameter, 0);
  const auto mode = static_cast<te::PadMode>(read.choice("mode", "constant", kModes));
  TRY(read.status());
  Shape bordered = x.shape;
  for (size_t d = 0; d < rank; ++d) {
    bordered[d] += before[d] + after[d];
    const bool nothing = -before[d] >= x.shape[d] || -after[d] >= x.shape[d];
    if (nothing && mode != te::PadMode::Constant) {
      return unsupported(op, fmt::format("dimension {} of {} is left out whole", d, x.to_string()));
    }
  }
  TRY(require_result(op, bordered));
  if (has(operands, 1)) {
    if (operands[1]->elements() != 1 || operands[1]->element != x.element) {
      return bad(op, fmt::format("a value of {} for {}", operands[1]->to_string(), x.to_string()));
    }
    if (mode == te::PadMode::Constant) return pad_with(x, *operands[1], before, bordered);
    return bad(op, "a value is for the mode constant alone");
  }
  if (rank == 0) return te::reshape(x.shape, x.shape, x.element);
  return te::pad({.shape = x.shape,
                  .before = before,
                  .after = after,
                  .mode = mode,
                  .value = 0,
                  .element = x.element});
}

DagResult build_tile(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  Reader read(op, attributes);
  const Shape repeats = read.list("repeats", x.shape.size(), 0, te::kMaxParameter);
  TRY(read.status());
  Shape tiled = x.shape;
  for (size_t d = 0; d < tiled.size(); ++d) {
    if (__builtin_mul_overflow(tiled[d], repeats[d], &tiled[d])) tiled[d] = te::kMaxElements + 1;
  }
  TRY(require_result(op, tiled));
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const std::vector<te::Axis> axes = te::axes_of(builder, tiled);
  std::vector<Expr> indices;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (repeats[d] == 1) {
      indices.push_back(axes[d].var);
    } else {
      indices.push_back(x.shape[d] == 1 ? ir::int_imm(0) : axes[d].var % x.shape[d]);
    }
  }
  const Expr value = builder.read(from, std::move(indices));
  return finish(std::move(builder), axes, value, x.element);
}

DagResult build_trilu(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  if (x.shape.size() < 2) {
    return bad(op, fmt::format("{} has no matrices", x.to_string()));
  }
  Reader read(op, attributes);
  const bool upper = read.flag("upper", true);
  // Beyond the matrix every k is the same.
  const int64_t k =
      std::clamp<int64_t>(attributes.integer("k", 0), -te::kMaxElements, te::kMaxElements);
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const Expr value = builder.read(from, te::vars_of(axes));
  const Expr diagonal = axes[axes.size() - 1].var - axes[axes.size() - 2].var;  // column - row
  const Expr inside = upper ? diagonal >= k : diagonal < k + 1;
  return finish(std::move(builder), axes, ir::select(inside, value, number(0, value)), x.element);
}

constexpr OpDef kOps[] = {
    {"reshape", Work::View, 1, 1, build_reshape},
    {"transpose", Work::Move, 1, 1, build_transpose},
    {"broadcast", Work::Move, 1, 1, build_broadcast},
    {"slice", Work::Move, 1, 1, build_slice},
    {"concat", Work::Move, 1, kAnyNumber, build_concat},
    {"pad", Work::Move, 1, 2, build_pad},
    {"tile", Work::Move, 1, 1, build_tile},
    {"trilu", Work::Move, 1, 1, build_trilu},
};

}  // namespace

std::span<const OpDef> move_ops() { return kOps; }

}  // namespace tilewright::graph
