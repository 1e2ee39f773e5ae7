// Norms of floats, in f32 for f16 and bf16, with the stages of te/ops/norm.h.
//
//   layer_norm(x, scale?, bias?; axis=-1, epsilon=1e-5)   over the dimensions from `axis` on; scale
//                                and bias broadcast to x. Stages S, A, V, R, Y
//   rms_norm(x, scale?; axis=-1, epsilon=1e-5)            S, R, Y
//   group_norm(x, scale?, bias?; groups, axis=1, epsilon=1e-5)     mean and variance of each
//                                group of channels (dimension `axis`) of each element of
//                                dimension 0; scale and bias have one number per channel.
//                                S, A, V, R, Y; with channels last T, S, A, U, V, F, Y
//   lrn(x; size, alpha=1e-4, beta=0.75, bias=1, axis=1)   x / (bias + alpha/size s)^beta where s
//                                sums the squares of the `size` nearest channels. S, Y
//   lp_norm(x; axis=-1, p=2)     x / |x|_p, 0 if that is 0; p is 1 or 2. S, R, Y
#include "te/ops/norm.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using te::Indices;

Expr square_root(const Expr& x) { return call(ir::Intrinsic::Sqrt, x); }

Status check(const OpDef& op, OperandTypes operands, double epsilon) {
  TRY(require_float(op, operands[0]->element));
  for (size_t k = 1; k < operands.size(); ++k) {
    if (!operands[k] || operands[k]->element == operands[0]->element) continue;
    return bad(op,
               fmt::format("operands of {} and {}; they should have one type",
                           ir::name_of(operands[0]->element), ir::name_of(operands[k]->element)));
  }
  if (epsilon >= 0) return {};
  return bad(op, fmt::format("epsilon={} is negative", epsilon));
}

// The dimensions from `axis` on.
std::vector<size_t> from_axis(size_t axis, size_t rank) {
  std::vector<size_t> columns(rank - axis);
  std::iota(columns.begin(), columns.end(), axis);
  return columns;
}

// A scale and a bias that broadcast to x; either may be omitted.
struct ScaleAndBias {
  std::optional<te::TensorId> scale, bias;
};

Result<ScaleAndBias> scale_and_bias(const OpDef& op, te::DagBuilder& builder,
                                    OperandTypes operands) {
  ScaleAndBias made;
  for (size_t k = 1; k < operands.size(); ++k) {
    if (!operands[k]) continue;
    if (!broadcasts_to(operands[k]->shape, operands[0]->shape)) {
      return bad(op, fmt::format("{} does not broadcast to {}", operands[k]->to_string(),
                                 operands[0]->to_string()));
    }
    (k == 1 ? made.scale : made.bias) =
        placeholder(builder, k == 1 ? "scale" : "shift", *operands[k]);
  }
  return made;
}

// The indices of `tensor`, which broadcasts to `shape`, for an element of that shape.
Indices broadcast_indices(const te::Tensor& tensor, const Shape& shape, const Indices& at) {
  Indices indices;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const size_t of = shape.size() - tensor.shape.size() + d;
    indices.push_back(tensor.shape[d].high == shape[of] ? at[of] : ir::int_imm(0));
  }
  return indices;
}

using AddNorm = te::TensorId (*)(te::DagBuilder& builder, te::TensorId x, const te::Rows& rows,
                                 double epsilon, ir::Scalar element, const te::Affine& affine);

// layer_norm and rms_norm.
DagResult build_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands,
                     AddNorm add_norm) {
  const TensorType& type = *operands[0];
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const double epsilon = read.number("epsilon", 1e-5);
  TRY(read.status());
  TRY(check(op, operands, epsilon));
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const ScaleAndBias given = TRY(scale_and_bias(op, builder, operands));
  const te::Rows rows = te::rows_of(builder, type.shape, from_axis(axis, type.shape.size()));
  add_norm(builder, x, rows, epsilon, type.element, [&](Expr value, const Indices& at) {
    const auto read_at = [&](te::TensorId tensor) {
      return builder.read(tensor, broadcast_indices(builder.tensor(tensor), type.shape, at));
    };
    if (given.scale) value = value * read_at(*given.scale);
    if (given.bias) value = value + read_at(*given.bias);
    return value;
  });
  return std::move(builder).build();
}

DagResult build_layer_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  return build_norm(op, attributes, operands, te::add_layer_norm);
}

DagResult build_rms_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  return build_norm(op, attributes, operands, te::add_rms_norm);
}

// The groups of channels of group_norm: x[n, .., c, ..] is in row (n, g) where c = g * each + rc.
te::Rows group_rows(te::DagBuilder& builder, const Shape& shape, size_t axis, int64_t groups) {
  const int64_t each = shape[axis] / groups;
  // A group of one channel has no axis for it, unless nothing else is reduced.
  const bool lone = each == 1 && groups > 1 && shape.size() > 2;
  te::Rows::Layout layout;
  layout.rows.push_back({.name = "n", .extent = shape[0]});
  if (groups > 1) layout.rows.push_back({.name = "g", .extent = groups});
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::string name(te::axis_name(d));
    layout.elements.push_back({.name = name, .extent = shape[d]});
    if (d == 0 || (d == axis && lone)) continue;
    layout.columns.push_back({.name = "r" + name, .extent = d == axis ? each : shape[d]});
  }
  layout.element_at = [=, rank = shape.size()](const Indices& row, const Indices& column) {
    Indices at = {row[0]};
    size_t next = 0;
    for (size_t d = 1; d < rank; ++d) {
      if (d == axis && lone) {
        at.push_back(row[1]);
        continue;
      }
      const Expr& inner = column[next++];
      at.push_back(d == axis && groups > 1 ? row[1] * each + inner : inner);
    }
    return at;
  };
  layout.row_of = [=](const Indices& at) {
    Indices row = {at[0]};
    if (groups > 1) row.push_back(each == 1 ? at[axis] : at[axis] / each);
    return row;
  };
  return {builder, std::move(layout)};
}

// group_norm of channels that are the last dimension, with vectors of channels: sums of each
// channel over all but the first spatial dimension, which are independent, then their sums by
// group; mean and factor of each channel.
//
//   x[n, h, w, c], groups of `each` channels
//   T[n, h, c] = sum over w of x          S[n, g] = sum over h, j of T[n, h, g * each + j]
//   A[n, c] = S[n, c / each] / count      U, V likewise of (x - A)^2
//   F[n, c] = scale[c] / sqrt(V[n, c / each] / count + epsilon)
//   Y = (x - A) * F + shift
class LastChannelsNorm {
 public:
  LastChannelsNorm(te::DagBuilder& builder, te::TensorId x, const TensorType& type, int64_t groups)
      : builder_(builder), x_(x), type_(type), groups_(groups) {
    each_ = type.shape.back() / groups;
    count_ = static_cast<double>(type.elements()) / static_cast<double>(type.shape[0] * groups);
  }

  void run(double epsilon, const ScaleAndBias& affine) {
    const te::TensorId sums = sum_by_group("T", "S", [&](const Indices& at) { return x(at); });
    const te::TensorId means =
        by_channel("A", [&](const Expr& n, const Expr& c) { return mean(sums, n, c); });
    const auto away = [&](const Indices& at) {
      return x(at) - builder_.read(means, {at.front(), at.back()});
    };
    const te::TensorId squares = sum_by_group("U", "V", [&](const Indices& at) {
      const Expr difference = away(at);
      return difference * difference;
    });
    const te::TensorId factors = by_channel("F", [&](const Expr& n, const Expr& c) {
      const Expr variance = mean(squares, n, c);
      const Expr root = square_root(variance + number(epsilon, variance));
      return (affine.scale ? builder_.read(*affine.scale, {c}) : number(1, root)) / root;
    });
    const std::vector<te::Axis> axes = axes_of(0, type_.shape.size());
    const Indices at = te::vars_of(axes);
    Expr value = away(at) * builder_.read(factors, {at.front(), at.back()});
    if (affine.bias) value = value + builder_.read(*affine.bias, {at.back()});
    builder_.compute("Y", axes, value, type_.element);
  }

 private:
  using OfElement = std::function<Expr(const Indices& at)>;
  using OfChannel = std::function<Expr(const Expr& n, const Expr& c)>;

  Expr x(const Indices& at) const { return builder_.read(x_, at); }

  Expr mean(te::TensorId sums, const Expr& n, const Expr& c) const {
    const Expr sum = builder_.read(sums, {n, each_ == 1 ? c : c / each_});
    return sum / number(count_, sum);
  }

  std::vector<te::Axis> axes_of(size_t begin, size_t end, const char* prefix = "") const {
    std::vector<te::Axis> axes;
    for (size_t d = begin; d < end; ++d) {
      axes.push_back(builder_.axis(fmt::format("{}{}", prefix, te::axis_name(d)), type_.shape[d]));
    }
    return axes;
  }

  te::TensorId by_channel(const char* name, const OfChannel& value) const {
    const te::Axis n = builder_.axis("n", type_.shape[0]);
    const te::Axis c = builder_.axis("c", type_.shape.back());
    return builder_.compute(name, {n, c}, value(n.var, c.var));
  }

  // The sums of each group, of sums of each channel if there are several spatial dimensions.
  te::TensorId sum_by_group(const char* partial, const char* name, const OfElement& value) const {
    const size_t rank = type_.shape.size();
    const te::Axis n = builder_.axis("n", type_.shape[0]);
    const te::Axis g = builder_.axis("g", groups_);
    std::vector<te::Axis> rows = axes_of(1, std::min<size_t>(rank - 1, 2), "r");
    const te::Axis j = builder_.axis("each", each_);
    Indices at = {n.var};
    for (const te::Axis& row : rows) at.push_back(row.var);
    at.push_back(g.var * each_ + j.var);
    rows.push_back(j);
    Expr summed;
    if (rank <= 3) {
      summed = value(at);
    } else {
      std::vector<te::Axis> kept = axes_of(0, 2);
      kept.push_back(builder_.axis(te::axis_name(rank - 1), type_.shape.back()));
      const std::vector<te::Axis> reduced = axes_of(2, rank - 1, "r");
      Indices element = {kept[0].var, kept[1].var};
      for (const te::Axis& axis : reduced) element.push_back(axis.var);
      element.push_back(kept[2].var);
      const Expr one = value(element);
      const te::TensorId sums =
          builder_.reduce(partial, kept, reduced, BinaryOp::Add, one, one.type().scalar);
      summed = builder_.read(sums, at);
    }
    return builder_.reduce(name, {n, g}, rows, BinaryOp::Add, summed, summed.type().scalar);
  }

  te::DagBuilder& builder_;
  te::TensorId x_;
  const TensorType& type_;
  int64_t groups_, each_ = 1;
  double count_ = 1;
};

DagResult build_group_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  if (type.shape.size() < 2) return bad(op, fmt::format("{} has no channels", type.to_string()));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 1, type.shape.size());
  const int64_t groups = read.integer("groups", 1, 1, te::kMaxParameter);
  const double epsilon = read.number("epsilon", 1e-5);
  TRY(read.status());
  TRY(check(op, operands, epsilon));
  const int64_t channels = type.shape[axis];
  if (axis == 0 || channels % groups != 0) {
    return bad(op,
               fmt::format("{} groups along dimension {} of {}", groups, axis, type.to_string()));
  }
  for (size_t k = 1; k < operands.size(); ++k) {
    if (!operands[k] || operands[k]->shape == Shape{channels}) continue;
    return bad(op, fmt::format("operand {} is {}; it should have one number for each of {} "
                               "channels",
                               k, operands[k]->to_string(), channels));
  }
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  std::optional<te::TensorId> scale, bias;
  if (has(operands, 1)) scale = placeholder(builder, "scale", *operands[1]);
  if (has(operands, 2)) bias = placeholder(builder, "shift", *operands[2]);
  if (axis + 1 == type.shape.size() && axis > 1) {
    LastChannelsNorm(builder, x, type, groups).run(epsilon, {scale, bias});
    return std::move(builder).build();
  }
  te::add_layer_norm(builder, x, group_rows(builder, type.shape, axis, groups), epsilon,
                     type.element, [&](Expr value, const Indices& at) {
                       if (scale) value = value * builder.read(*scale, {at[axis]});
                       if (bias) value = value + builder.read(*bias, {at[axis]});
                       return value;
                     });
  return std::move(builder).build();
}

DagResult build_lrn(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  TRY(require_float(op, type.element));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 1, type.shape.size());
  const int64_t size = read.integer("size", 0, 1, te::kMaxParameter);
  const double alpha = read.number("alpha", 1e-4), beta = read.number("beta", 0.75);
  const double bias = read.number("bias", 1);
  TRY(read.status());
  const int64_t below = (size - 1) / 2;
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const std::vector<te::Axis> axes = te::axes_of(builder, type.shape);
  const te::Axis near = builder.axis("r", size);
  Indices at = te::vars_of(axes);
  const Expr channel = at[axis] + near.var - below;
  at[axis] = channel;
  const Expr value = builder.read(x, std::move(at));
  const Expr inside = channel >= 0 && channel < type.shape[axis];
  const te::TensorId squares =
      builder.reduce("S", axes, {near}, BinaryOp::Add,
                     ir::select(inside, value * value, number(0, value)), value.type().scalar);
  const std::vector<te::Axis> out = te::axes_of(builder, type.shape);
  const Expr sum = builder.read(squares, te::vars_of(out));
  const Expr base = sum * number(alpha / static_cast<double>(size), sum) + number(bias, sum);
  const Expr divisor = ir::call(ir::Intrinsic::Pow, {base, number(beta, base)});
  const Expr result = builder.read(x, te::vars_of(out)) / divisor;
  return finish(std::move(builder), out, result, type.element);
}

DagResult build_lp_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  TRY(require_float(op, type.element));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const int64_t p = read.integer("p", 2, 1, 2);
  TRY(read.status());
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const te::Rows rows = te::rows_of(builder, type.shape, {{axis}});
  const te::TensorId sums = rows.reduce("S", BinaryOp::Add, [&](const Indices&, const Indices& at) {
    const Expr value = builder.read(x, at);
    return p == 1 ? call(ir::Intrinsic::Abs, value) : value * value;
  });
  const te::TensorId reciprocals = rows.each_row("R", [&](const Indices& row) {
    const Expr sum = builder.read(sums, row);
    const Expr norm = p == 1 ? sum : square_root(sum);
    return ir::select(equal(sum, number(0, sum)), number(0, sum), number(1, sum) / norm);
  });
  rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return builder.read(x, at) * builder.read(reciprocals, row);
      },
      type.element);
  return std::move(builder).build();
}

constexpr OpDef kOps[] = {
    {"layer_norm", Work::Rows, 1, 3, build_layer_norm},
    {"rms_norm", Work::Rows, 1, 2, build_rms_norm},
    {"group_norm", Work::Rows, 1, 3, build_group_norm},
    {"lrn", Work::Rows, 1, 1, build_lrn},
    {"lp_norm", Work::Rows, 1, 1, build_lp_norm},
};

}  // namespace

std::span<const OpDef> norm_ops() { return kOps; }

}  // namespace tilewright::graph
