// Elements by index. Indices are i64 or i32. Negative ones count from the end; those still out of
// range are clamped (gather) or ignored (scatter, one_hot).
//
//   gather(x, indices; axis=0)                 Y = x with `axis` indexed by all of `indices`
//   gather_elements(x, indices; axis=0)        Y[i, j] = x[indices[i, j], j] for axis 0
//   gather_nd(x, indices; batch_dims=0)        the last dimension of indices is an index of x
//   scatter_elements(x, indices, updates; axis=0, reduction=none|add|mul|max|min)
//   scatter_nd(x, indices, updates; reduction=none|add|mul|max|min)
//   one_hot(indices; depth, axis=-1, on=1, off=0, to)     indices of any type of number
//
// A scatter finds, for each element of the result, the updates of it: stage S reduces over all
// updates (the number of the last one, or their sum, product, ...), then Y. Its cost is the product
// of both sizes, which is fine for the small tensors that models scatter into.
#include <fmt/format.h>

#include "graph/ops/common.h"
#include "graph/ops/families.h"
#include "te/ops/gather.h"
#include "te/shape_of.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;

constexpr std::string_view kReductions[] = {"none", "add", "mul", "max", "min"};
constexpr BinaryOp kFolds[] = {BinaryOp::Max, BinaryOp::Add, BinaryOp::Mul, BinaryOp::Max,
                               BinaryOp::Min};

Status require_index(const OpDef& op, const TensorType& indices) {
  if (indices.element == Scalar::I64 || indices.element == Scalar::I32) return {};
  return unsupported(
      op, fmt::format("indices of {}; types are i64, i32", ir::name_of(indices.element)));
}

// The stored index, counted from the front.
Expr read_index(const te::DagBuilder& builder, te::TensorId indices, std::vector<Expr> at,
                int64_t extent) {
  const Expr given = ir::cast(Scalar::I64, builder.read(indices, std::move(at)));
  return ir::select(given < 0, given + extent, given);
}

DagResult build_gather(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &indices = *operands[1];
  TRY(require_index(op, indices));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 0, x.shape.size());
  TRY(read.status());
  Shape result = x.shape;
  const auto place = result.erase(result.begin() + static_cast<int64_t>(axis));
  result.insert(place, indices.shape.begin(), indices.shape.end());
  TRY(require_result(op, result));
  return te::gather(x.shape, static_cast<int64_t>(axis), indices.shape, x.element, indices.element);
}

// Whether dimensions other than `axis` of `inner` are no larger than those of `outer`.
bool lies_within(const Shape& inner, const Shape& outer, size_t axis) {
  if (inner.size() != outer.size()) return false;
  for (size_t d = 0; d < inner.size(); ++d) {
    if (d != axis && inner[d] > outer[d]) return false;
  }
  return true;
}

DagResult build_gather_elements(const OpDef& op, const Attributes& attributes,
                                OperandTypes operands) {
  const TensorType &x = *operands[0], &indices = *operands[1];
  TRY(require_index(op, indices));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 0, x.shape.size());
  TRY(read.status());
  if (!lies_within(indices.shape, x.shape, axis)) {
    return bad(op, fmt::format("indices {} do not fit {} along dimension {}",
                               shape_text(indices.shape), shape_text(x.shape), axis));
  }
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId places = placeholder(builder, "I", indices);
  const std::vector<te::Axis> axes = te::axes_of(builder, indices.shape);
  std::vector<Expr> at = te::vars_of(axes);
  const Expr index = read_index(builder, places, at, x.shape[axis]);
  at[axis] = clamped(index, x.shape[axis]);
  const Expr value = builder.read(from, std::move(at));
  return finish(std::move(builder), axes, value, x.element);
}

// Shared by gather_nd and scatter_nd: `indices` [batch.., outer.., depth] index dimensions batch to
// batch + depth of x.
struct NdShape {
  size_t batch = 0, depth = 0;
  Shape result;  // of a gather, and of updates: the outer extents, then the other extents of x
};

Result<NdShape> nd_shape(const OpDef& op, const TensorType& x, const TensorType& indices,
                         size_t batch) {
  TRY(require_index(op, indices));
  if (indices.shape.empty() || indices.shape.size() <= batch || x.shape.size() <= batch) {
    return bad(op, fmt::format("indices {} do not fit {}", shape_text(indices.shape),
                               shape_text(x.shape)));
  }
  const int64_t depth = indices.shape.back();
  bool fits = depth <= static_cast<int64_t>(x.shape.size() - batch);
  for (size_t d = 0; fits && d < batch; ++d) fits = indices.shape[d] == x.shape[d];
  if (!fits) {
    return bad(op, fmt::format("indices {} do not fit {}", shape_text(indices.shape),
                               shape_text(x.shape)));
  }
  NdShape shape{.batch = batch,
                .depth = static_cast<size_t>(depth),
                .result = {indices.shape.begin(), indices.shape.end() - 1}};
  shape.result.insert(shape.result.end(), x.shape.begin() + static_cast<int64_t>(batch) + depth,
                      x.shape.end());
  return shape;
}

DagResult build_gather_nd(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &indices = *operands[1];
  Reader read(op, attributes);
  const auto batch = static_cast<size_t>(read.integer("batch_dims", 0, 0, kMaxRank));
  TRY(read.status());
  const auto shape = TRY(nd_shape(op, x, indices, batch));
  TRY(require_result(op, shape.result));
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId places = placeholder(builder, "I", indices);
  const std::vector<te::Axis> axes = te::axes_of(builder, shape.result);
  const std::vector<Expr> vars = te::vars_of(axes);
  const auto outer = static_cast<int64_t>(indices.shape.size() - 1);
  std::vector<Expr> at(vars.begin(), vars.begin() + static_cast<int64_t>(batch));
  for (size_t k = 0; k < shape.depth; ++k) {
    std::vector<Expr> place(vars.begin(), vars.begin() + outer);
    place.push_back(ir::int_imm(static_cast<int64_t>(k)));
    const int64_t extent = x.shape[batch + k];
    at.push_back(clamped(read_index(builder, places, std::move(place), extent), extent));
  }
  at.insert(at.end(), vars.begin() + outer, vars.end());
  const Expr value = builder.read(from, std::move(at));
  return finish(std::move(builder), axes, value, x.element);
}

Status check_scatter(const OpDef& op, OperandTypes operands, size_t reduction) {
  const TensorType &x = *operands[0], &updates = *operands[2];
  TRY(require_index(op, *operands[1]));
  if (updates.element != x.element) {
    return bad(op, fmt::format("updates of {} for {}", ir::name_of(updates.element),
                               ir::name_of(x.element)));
  }
  return reduction == 0 ? Status{} : require_number(op, x.element);
}

// The updates of one element: axes of the result, axes of the reduction, the condition that an
// update is for the element, and its index in the tensor of updates.
struct Meant {
  std::vector<te::Axis> axes, fold;
  Expr condition;
  std::vector<Expr> update;
};

// Y from x and the reduction S of the updates with `reduction`.
DagResult finish_fold(te::DagBuilder builder, te::TensorId x, te::TensorId updates,
                      const Meant& meant, size_t reduction) {
  const Scalar element = builder.tensor(x).element;
  const Expr update = builder.read(updates, meant.update);
  const BinaryOp fold = kFolds[reduction];
  const Scalar type = update.type().scalar;
  const Expr neutral = te::make_reduction(fold, type).identity[0];
  const te::TensorId sums = builder.reduce("S", meant.axes, meant.fold, fold,
                                           ir::select(meant.condition, update, neutral), type);
  const std::vector<te::Axis> axes = te::axes_of(builder, te::shape_of(builder.tensor(x)));
  const Expr value =
      ir::binary(fold, builder.read(x, te::vars_of(axes)), builder.read(sums, te::vars_of(axes)));
  return finish(std::move(builder), axes, value, element);
}

std::vector<te::Axis> fold_axes(te::DagBuilder& builder, std::span<const int64_t> shape) {
  std::vector<te::Axis> axes;
  axes.reserve(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    axes.push_back(builder.axis(fmt::format("r{}", te::axis_name(d)), shape[d]));
  }
  return axes;
}

DagResult build_scatter_elements(const OpDef& op, const Attributes& attributes,
                                 OperandTypes operands) {
  const TensorType &x = *operands[0], &indices = *operands[1];
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 0, x.shape.size());
  const size_t reduction = read.choice("reduction", "none", kReductions);
  TRY(read.status());
  TRY(check_scatter(op, operands, reduction));
  if (!lies_within(indices.shape, x.shape, axis) || indices.shape != operands[2]->shape) {
    return bad(op, fmt::format("indices {} and updates {} do not fit {} along dimension {}",
                               shape_text(indices.shape), shape_text(operands[2]->shape),
                               shape_text(x.shape), axis));
  }
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId places = placeholder(builder, "I", indices);
  const te::TensorId updates = placeholder(builder, "U", *operands[2]);
  const int64_t count = indices.shape[axis];
  const auto meant_for = [&](const std::vector<te::Axis>& axes, const Expr& number) {
    std::vector<Expr> update = te::vars_of(axes);
    Expr inside;
    for (size_t d = 0; d < axes.size(); ++d) {
      if (d != axis && indices.shape[d] < x.shape[d]) {
        inside = also(inside, update[d] < indices.shape[d]);
      }
    }
    const Expr position = update[axis];
    update[axis] = number;
    const Expr index = read_index(builder, places, update, x.shape[axis]);
    // Nested, so that no read is out of bounds.
    const Expr here = equal(index, position);
    return Meant{
        .axes = axes,
        .fold = {},
        .condition = inside.defined() ? ir::select(inside, here, ir::int_imm(0, ir::kBool)) : here,
        .update = std::move(update)};
  };
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const std::vector<te::Axis> fold = {builder.axis("r", count)};
  Meant meant = meant_for(axes, fold[0].var);
  meant.fold = fold;
  if (reduction != 0) return finish_fold(std::move(builder), from, updates, meant, reduction);
  const te::TensorId last =
      builder.reduce("S", axes, fold, BinaryOp::Max,
                     ir::select(meant.condition, fold[0].var, ir::int_imm(-1)), Scalar::I64);
  const std::vector<te::Axis> out = te::axes_of(builder, x.shape);
  std::vector<Expr> at = te::vars_of(out);
  const Expr kept = builder.read(from, at);
  const Expr number = builder.read(last, at);
  at[axis] = clamped(number, count);
  const Expr value = ir::select(number >= 0, builder.read(updates, at), kept);
  return finish(std::move(builder), out, value, x.element);
}

// The row-major number of an index.
Expr flat_number(std::span<const te::Axis> axes) {
  Expr flat = ir::int_imm(0);
  for (const te::Axis& axis : axes) {
    flat = &axis == axes.data() ? axis.var : flat * axis.extent.high + axis.var;
  }
  return flat;
}

// The reverse.
std::vector<Expr> place_of(const Expr& number, std::span<const int64_t> shape) {
  std::vector<Expr> place;
  int64_t inner = 1;
  for (const int64_t extent : shape) inner *= extent;
  for (const int64_t extent : shape) {
    inner /= extent;
    const Expr digit = inner == 1 ? number : number / inner;
    place.push_back(clamped(place.empty() ? digit : digit % extent, extent));
  }
  return place;
}

DagResult build_scatter_nd(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType &x = *operands[0], &indices = *operands[1];
  Reader read(op, attributes);
  const size_t reduction = read.choice("reduction", "none", kReductions);
  TRY(read.status());
  TRY(check_scatter(op, operands, reduction));
  const auto shape = TRY(nd_shape(op, x, indices, 0));
  if (operands[2]->shape != shape.result) {
    return bad(op, fmt::format("updates {} should be {}", shape_text(operands[2]->shape),
                               shape_text(shape.result)));
  }
  const std::span<const int64_t> outer = std::span(indices.shape).first(indices.shape.size() - 1);
  const std::span<const int64_t> named = std::span(x.shape).first(shape.depth);
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const te::TensorId places = placeholder(builder, "I", indices);
  const te::TensorId updates = placeholder(builder, "U", *operands[2]);
  Meant meant;
  // A single update without outer dimensions is reduced over an axis of extent 1.
  meant.fold =
      outer.empty() ? std::vector<te::Axis>{builder.axis("r", 1)} : fold_axes(builder, outer);
  meant.axes = te::axes_of(builder, reduction == 0 ? named : std::span<const int64_t>(x.shape));
  std::vector<Expr> at = outer.empty() ? std::vector<Expr>{} : te::vars_of(meant.fold);
  meant.update = at;
  at.emplace_back();
  for (size_t k = 0; k < shape.depth; ++k) {
    at.back() = ir::int_imm(static_cast<int64_t>(k));
    const Expr index = read_index(builder, places, at, x.shape[k]);
    meant.condition = also(meant.condition, equal(index, meant.axes[k].var));
  }
  if (reduction != 0) {
    for (size_t d = shape.depth; d < x.shape.size(); ++d) {
      meant.update.push_back(meant.axes[d].var);
    }
    return finish_fold(std::move(builder), from, updates, meant, reduction);
  }
  const te::TensorId last = builder.reduce(
      "S", meant.axes, meant.fold, BinaryOp::Max,
      ir::select(meant.condition, flat_number(meant.fold), ir::int_imm(-1)), Scalar::I64);
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const std::vector<Expr> vars = te::vars_of(axes);
  const auto depth = static_cast<int64_t>(shape.depth);
  const Expr number = builder.read(last, {vars.begin(), vars.begin() + depth});
  std::vector<Expr> update = place_of(number, outer);
  update.insert(update.end(), vars.begin() + depth, vars.end());
  const Expr value =
      ir::select(number >= 0, builder.read(updates, std::move(update)), builder.read(from, vars));
  return finish(std::move(builder), axes, value, x.element);
}

DagResult build_one_hot(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& indices = *operands[0];
  TRY(require_number(op, indices.element));
  Reader read(op, attributes);
  const int64_t depth = read.integer("depth", 0, 1, te::kMaxParameter);
  const size_t axis = read.axis("axis", -1, indices.shape.size() + 1);
  const double on = read.number("on", 1), off = read.number("off", 0);
  const Scalar to = read.scalar("to");
  TRY(read.status());
  Shape result = indices.shape;
  result.insert(result.begin() + static_cast<int64_t>(axis), depth);
  TRY(require_result(op, result));
  te::DagBuilder builder;
  const te::TensorId places = placeholder(builder, "I", indices);
  const std::vector<te::Axis> axes = te::axes_of(builder, result);
  std::vector<Expr> at = te::vars_of(axes);
  const Expr position = at[axis];
  at.erase(at.begin() + static_cast<int64_t>(axis));
  const Expr given = ir::cast(Scalar::I64, builder.read(places, std::move(at)));
  const Expr here = equal(given, position) || equal(given + depth, position);
  const ir::Type type{ir::arithmetic_type(to), 1};
  const auto value_of = [&](double value) {
    return ir::imm(ir::convert(value, type.scalar), type);
  };
  return finish(std::move(builder), axes, ir::select(here, value_of(on), value_of(off)), to);
}

constexpr OpDef kOps[] = {
    {"gather", Work::Move, 2, 2, build_gather},
    {"gather_elements", Work::Move, 2, 2, build_gather_elements},
    {"gather_nd", Work::Move, 2, 2, build_gather_nd},
    {"scatter_elements", Work::Rows, 3, 3, build_scatter_elements},
    {"scatter_nd", Work::Rows, 3, 3, build_scatter_nd},
    {"one_hot", Work::Move, 1, 1, build_one_hot},
};

}  // namespace

std::span<const OpDef> index_ops() { return kOps; }

}  // namespace tilewright::graph
