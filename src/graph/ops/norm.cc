// Norms, of floats, in f32 for f16 and bf16. Stages as te/ops/norm.h has them.
//
//   layer_norm(x, scale?, bias?; axis=-1, epsilon=1e-5)   over the dimensions from `axis` on; scale
//                                and bias broadcast to x. Stages S, A, V, R, Y
//   rms_norm(x, scale?; axis=-1, epsilon=1e-5)            S, R, Y
//   group_norm(x, scale?, bias?; groups, axis=1, epsilon=1e-5)     mean and variance of each
//                                group of channels (dimension `axis`) at each place of
//                                dimension 0; scale and bias have one number a channel.
//                                S, A, V, R, Y
//   lrn(x; size, alpha=1e-4, beta=0.75, bias=1, axis=1)   x / (bias + alpha/size s)^beta where s
//                                sums the squares of `size` channels around. S, Y
//   lp_norm(x; axis=-1, p=2)     x / |x|_p, 0 where that is 0; p is 1 or 2. S, R, Y
#include <fmt/format.h>

#include <numeric>

#include "graph/ops/families.h"
#include "graph/ops/rows.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using Indices = std::vector<Expr>;

Expr square_root(const Expr& x) { return call(ir::Intrinsic::Sqrt, x); }

// 1 / sqrt(squares / count + epsilon)
Expr reciprocal(const Expr& squares, double count, double epsilon) {
  const Expr mean = squares / number(count, squares);
  return number(1, squares) / square_root(mean + number(epsilon, squares));
}

Status check(const OpDef& op, OperandTypes operands, double epsilon) {
  if (const Status legal = require_float(op, operands[0]->element); !legal) return legal;
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

// A scale and a bias that broadcast to x; either may be left out.
struct Affine {
  std::optional<te::TensorId> scale, bias;
};

Result<Affine> affine_of(const OpDef& op, te::DagBuilder& builder, OperandTypes operands) {
  Affine made;
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

// Y[shape] = normal(row, element) * scale + bias.
void finish_norm(te::DagBuilder& builder, const Rows& rows, const Affine& affine,
                 const TensorType& x, const Rows::Folded& normal) {
  rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        const auto read = [&](te::TensorId tensor) {
          const std::vector<te::Extent>& shape = builder.tensor(tensor).shape;
          Indices indices;
          for (size_t d = 0; d < shape.size(); ++d) {
            const size_t of = x.shape.size() - shape.size() + d;
            indices.push_back(shape[d].high == x.shape[of] ? at[of] : ir::int_imm(0));
          }
          return builder.read(tensor, std::move(indices));
        };
        Expr value = normal(row, at);
        if (affine.scale) value = value * read(*affine.scale);
        if (affine.bias) value = value + read(*affine.bias);
        return value;
      },
      x.element);
}

// What layer_norm and rms_norm begin with; the Dag is the caller's to finish.
struct RowNorm {
  const TensorType& type;
  double epsilon;
  te::TensorId x;
  Affine affine;
  Rows rows;
};

Result<RowNorm> begin_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands,
                           te::DagBuilder& builder) {
  const TensorType& type = *operands[0];
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const double epsilon = read.number("epsilon", 1e-5);
  if (!read) return read.error();
  if (const Status legal = check(op, operands, epsilon); !legal) {
    return std::unexpected(legal.error());
  }
  const te::TensorId x = placeholder(builder, "X", type);
  const auto affine = affine_of(op, builder, operands);
  if (!affine) return std::unexpected(affine.error());
  return RowNorm{.type = type,
                 .epsilon = epsilon,
                 .x = x,
                 .affine = *affine,
                 .rows = Rows(builder, type.shape, from_axis(axis, type.shape.size()))};
}

DagResult build_layer_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  te::DagBuilder builder;
  const auto norm = begin_norm(op, attributes, operands, builder);
  if (!norm) return std::unexpected(norm.error());
  const auto& [type, epsilon, x, affine, rows] = *norm;
  const te::TensorId sums = rows.fold(
      "S", BinaryOp::Add, [&](const Indices&, const Indices& at) { return builder.read(x, at); });
  const te::TensorId means = rows.each_row("A", [&](const Indices& row) {
    const Expr sum = builder.read(sums, row);
    return sum / number(rows.count(), sum);
  });
  const auto difference = [&](const Indices& row, const Indices& at) {
    return builder.read(x, at) - builder.read(means, row);
  };
  const te::TensorId variation =
      rows.fold("V", BinaryOp::Add, [&](const Indices& row, const Indices& at) {
        const Expr away = difference(row, at);
        return away * away;
      });
  // The difference stands twice in the square and is computed once.
  builder.set_flop(variation, 3.0 * static_cast<double>(type.elements()));
  const te::TensorId reciprocals = rows.each_row("R", [&](const Indices& row) {
    return reciprocal(builder.read(variation, row), rows.count(), epsilon);
  });
  finish_norm(builder, rows, affine, type, [&](const Indices& row, const Indices& at) {
    return difference(row, at) * builder.read(reciprocals, row);
  });
  return std::move(builder).build();
}

DagResult build_rms_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  te::DagBuilder builder;
  const auto norm = begin_norm(op, attributes, operands, builder);
  if (!norm) return std::unexpected(norm.error());
  const auto& [type, epsilon, x, affine, rows] = *norm;
  const te::TensorId squares =
      rows.fold("S", BinaryOp::Add, [&](const Indices&, const Indices& at) {
        const Expr value = builder.read(x, at);
        return value * value;
      });
  const te::TensorId reciprocals = rows.each_row("R", [&](const Indices& row) {
    return reciprocal(builder.read(squares, row), rows.count(), epsilon);
  });
  finish_norm(builder, rows, affine, type, [&](const Indices& row, const Indices& at) {
    return builder.read(x, at) * builder.read(reciprocals, row);
  });
  return std::move(builder).build();
}

// The loops of group_norm: x[n, .., c, ..], c = group * each + rc.
class GroupNorm {
 public:
  GroupNorm(const TensorType& type, size_t axis, int64_t groups)
      : type_(type), axis_(axis), groups_(groups), each_(type.shape[axis] / groups) {}

  std::shared_ptr<const te::Dag> build(OperandTypes operands, double epsilon) && {
    x_ = placeholder(builder_, "X", type_);
    std::optional<te::TensorId> scale, bias;
    if (has(operands, 1)) scale = placeholder(builder_, "scale", *operands[1]);
    if (has(operands, 2)) bias = placeholder(builder_, "shift", *operands[2]);
    const double count =
        static_cast<double>(type_.elements()) / static_cast<double>(type_.shape[0] * groups_);
    const te::TensorId sums =
        fold("S", [&](const Indices&, const Indices& at) { return builder_.read(x_, at); });
    const te::TensorId means = each_group("A", [&](const Indices& row) {
      const Expr sum = builder_.read(sums, row);
      return sum / number(count, sum);
    });
    const te::TensorId variation = fold("V", [&](const Indices& row, const Indices& at) {
      const Expr away = builder_.read(x_, at) - builder_.read(means, row);
      return away * away;
    });
    builder_.set_flop(variation, 3.0 * static_cast<double>(type_.elements()));
    const te::TensorId reciprocals = each_group("R", [&](const Indices& row) {
      return reciprocal(builder_.read(variation, row), count, epsilon);
    });
    const std::vector<te::Axis> axes = te::axes_of(builder_, type_.shape);
    const Expr c = axes[axis_].var;
    Indices row = {axes[0].var};
    if (groups_ > 1) row.push_back(each_ == 1 ? c : c / each_);
    Expr value = (builder_.read(x_, te::vars_of(axes)) - builder_.read(means, row)) *
                 builder_.read(reciprocals, row);
    if (scale) value = value * builder_.read(*scale, {c});
    if (bias) value = value + builder_.read(*bias, {c});
    return finish(std::move(builder_), axes, value, type_.element);
  }

 private:
  // n, and the group where there are several.
  std::vector<te::Axis> row_axes() {
    std::vector<te::Axis> axes = {builder_.axis("n", type_.shape[0])};
    if (groups_ > 1) axes.push_back(builder_.axis("g", groups_));
    return axes;
  }

  te::TensorId fold(std::string_view name, const Rows::Folded& value) {
    const std::vector<te::Axis> rows = row_axes();
    std::vector<te::Axis> columns;
    Indices at = {rows[0].var};
    for (size_t d = 1; d < type_.shape.size(); ++d) {
      const bool channel = d == axis_;
      // A group of one channel has no axis of its own, unless nothing else is folded.
      if (channel && each_ == 1 && groups_ > 1 && type_.shape.size() > 2) {
        at.push_back(rows[1].var);
        continue;
      }
      columns.push_back(
          builder_.axis(fmt::format("r{}", te::axis_name(d)), channel ? each_ : type_.shape[d]));
      const Expr& column = columns.back().var;
      at.push_back(channel && groups_ > 1 ? rows[1].var * each_ + column : column);
    }
    const Expr term = value(te::vars_of(rows), at);
    return builder_.reduce(name, rows, columns, BinaryOp::Add, term, term.type().scalar);
  }

  te::TensorId each_group(std::string_view name,
                          const std::function<Expr(const Indices& row)>& value) {
    const std::vector<te::Axis> rows = row_axes();
    const te::TensorId made = builder_.compute(name, rows, value(te::vars_of(rows)));
    builder_.set_flop(made, 0);
    return made;
  }

  const TensorType& type_;
  size_t axis_;
  int64_t groups_, each_;
  te::DagBuilder builder_;
  te::TensorId x_ = 0;
};

DagResult build_group_norm(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  if (type.shape.size() < 2) return bad(op, fmt::format("{} has no channels", type.to_string()));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 1, type.shape.size());
  const int64_t groups = read.integer("groups", 1, 1, te::kMaxParameter);
  const double epsilon = read.number("epsilon", 1e-5);
  if (!read) return read.error();
  if (const Status legal = check(op, operands, epsilon); !legal) {
    return std::unexpected(legal.error());
  }
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
  return GroupNorm(type, axis, groups).build(operands, epsilon);
}

DagResult build_lrn(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  if (const Status legal = require_float(op, type.element); !legal) {
    return std::unexpected(legal.error());
  }
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 1, type.shape.size());
  const int64_t size = read.integer("size", 0, 1, te::kMaxParameter);
  const double alpha = read.number("alpha", 1e-4), beta = read.number("beta", 0.75);
  const double bias = read.number("bias", 1);
  if (!read) return read.error();
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
  if (const Status legal = require_float(op, type.element); !legal) {
    return std::unexpected(legal.error());
  }
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const int64_t p = read.integer("p", 2, 1, 2);
  if (!read) return read.error();
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const Rows rows(builder, type.shape, {{axis}});
  const te::TensorId sums = rows.fold("S", BinaryOp::Add, [&](const Indices&, const Indices& at) {
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
