#include "te/ops/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

using ir::BinaryOp;
using ir::Expr;

constexpr std::string_view kKinds[] = {"sum",    "mean",   "max", "min", "prod",
                                       "argmax", "argmin", "any", "all"};

std::string_view name_of(ReduceKind kind) { return kKinds[static_cast<size_t>(kind)]; }

bool finds_index(ReduceKind kind) {
  return kind == ReduceKind::Argmax || kind == ReduceKind::Argmin;
}

BinaryOp operator_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
      return BinaryOp::Add;
    case ReduceKind::Prod:
      return BinaryOp::Mul;
    case ReduceKind::Max:
    case ReduceKind::Argmax:
      return BinaryOp::Max;
    case ReduceKind::Min:
    case ReduceKind::Argmin:
      return BinaryOp::Min;
    case ReduceKind::Any:
      return BinaryOp::Or;
    case ReduceKind::All:
      return BinaryOp::And;
  }
  return BinaryOp::Add;
}

Status check_type(ReduceKind kind, ir::Scalar element) {
  const std::string name = fmt::format("reduce:op={}", name_of(kind));
  if (kind == ReduceKind::Any || kind == ReduceKind::All) return {};
  return kind == ReduceKind::Mean ? require_float(name, element) : require_number(name, element);
}

// bit d: dimension d is reduced.
Result<std::vector<bool>> reduced_dimensions(std::span<const int64_t> axes, size_t rank) {
  std::vector<bool> reduced(rank);
  for (const int64_t number : axes) {
    const auto axis = TRY(resolve_axis("reduce", number, rank));
    if (reduced[axis]) {
      return fail(ErrorKind::BadInput, fmt::format("reduce: axis {} is repeated", axis));
    }
    reduced[axis] = true;
  }
  return reduced;
}

// The axes of a reduction, and the indices at which it reads X.
struct Loops {
  std::vector<Axis> axes, reduce_axes;
  std::vector<Expr> indices;
};

Loops loops_of(DagBuilder& builder, std::span<const int64_t> shape,
               const std::vector<bool>& reduced, bool keep) {
  Loops loops;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!reduced[d] || keep) {
      loops.axes.push_back(builder.axis(axis_name(d), reduced[d] ? 1 : shape[d]));
    }
    if (reduced[d]) {
      loops.reduce_axes.push_back(builder.axis(fmt::format("r{}", axis_name(d)), shape[d]));
    }
    loops.indices.push_back(reduced[d] ? loops.reduce_axes.back().var : loops.axes.back().var);
  }
  return loops;
}

int64_t count_of(const Loops& loops) {
  int64_t count = 1;
  for (const Axis& axis : loops.reduce_axes) {
    if (__builtin_mul_overflow(count, axis.extent.high, &count)) return kMaxTrips;
  }
  return count;
}

// Row-major over the reduce axes.
Expr flat_index(const Loops& loops) {
  Expr index = ir::int_imm(0);
  for (const Axis& axis : loops.reduce_axes) {
    index = &axis == loops.reduce_axes.data() ? axis.var : index * axis.extent.high + axis.var;
  }
  return index;
}

// (value, index) of the extreme value by `op`; of equal values the first index, or with `last` the
// last. `beyond` is after every index.
Reduction first_best(BinaryOp op, ir::Scalar scalar, int64_t beyond, bool last) {
  const ir::Type type{scalar, 1};
  const std::vector<Expr> lhs = {ir::var("value1", type), ir::var("index1")};
  const std::vector<Expr> rhs = {ir::var("value2", type), ir::var("index2")};
  const BinaryOp better = op == BinaryOp::Max ? BinaryOp::Gt : BinaryOp::Lt;
  Expr wins = ir::binary(better, lhs[0], rhs[0]);
  Expr equal = ir::binary(BinaryOp::Eq, lhs[0], rhs[0]);
  if (ir::is_float(scalar)) {
    const Expr left_nan = ir::binary(BinaryOp::Ne, lhs[0], lhs[0]);
    wins = wins || left_nan;
    equal = equal || (left_nan && ir::binary(BinaryOp::Ne, rhs[0], rhs[0]));
  }
  const Expr left = ir::select(equal, last ? rhs[1] < lhs[1] : lhs[1] < rhs[1], wins);
  return {.identity = {make_reduction(op, scalar).identity[0], ir::int_imm(beyond)},
          .lhs = lhs,
          .rhs = rhs,
          .combine = {ir::select(left, lhs[0], rhs[0]), ir::select(left, lhs[1], rhs[1])},
          .commutative = true};
}

void add_index(DagBuilder& builder, const Loops& loops, ReduceKind kind, bool last,
               const Expr& value) {
  const ir::Scalar type = value.type().scalar;
  const int64_t beyond = last ? -1 : count_of(loops);
  const std::vector<TensorId> made = builder.reduce_tuple(
      "Y", loops.axes, loops.reduce_axes, first_best(operator_of(kind), type, beyond, last),
      {value, flat_index(loops)}, {type, ir::Scalar::I64});
  builder.discard(made[0]);
}

// The term that is reduced, and the type in which the result is stored.
struct Folded {
  Expr value;
  ir::Scalar stored;
};

Folded folded_of(ReduceKind kind, const Expr& value, ir::Scalar element) {
  if (kind == ReduceKind::Any || kind == ReduceKind::All) {
    return {.value = ir::cast(ir::Scalar::Bool, value), .stored = ir::Scalar::Bool};
  }
  if (kind == ReduceKind::Max || kind == ReduceKind::Min) {
    return {.value = value, .stored = element};
  }
  const ir::Scalar sum = accumulator_of(element);
  return {.value = ir::cast(sum, value),
          .stored = kind == ReduceKind::Mean ? sum : result_of(element)};
}

}  // namespace

Result<std::shared_ptr<const Dag>> reduce(ReduceKind kind, std::span<const int64_t> shape,
                                          std::span<const int64_t> axes, bool keep,
                                          ir::Scalar element, bool last) {
  TRY(check_type(kind, element));
  TRY(require_dimensions("reduce", shape));
  const auto reduced = TRY(reduced_dimensions(axes, shape.size()));
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", extents_of(shape), element);
  const Loops loops = loops_of(builder, shape, reduced, keep);
  const Expr value = builder.read(x, loops.indices);
  if (finds_index(kind)) {
    add_index(builder, loops, kind, last, value);
    return std::move(builder).build();
  }
  const Folded folded = folded_of(kind, value, element);
  const bool mean = kind == ReduceKind::Mean;
  const TensorId sum = builder.reduce(mean ? "S" : "Y", loops.axes, loops.reduce_axes,
                                      operator_of(kind), folded.value, folded.stored);
  if (mean) {
    const Loops out = loops_of(builder, shape, reduced, keep);
    const Expr total = builder.read(sum, vars_of(out.axes));
    builder.compute("Y", out.axes,
                    total / ir::imm(static_cast<double>(count_of(loops)), total.type()), element);
  }
  return std::move(builder).build();
}

Operator reduce_operator() {
  return {.name = "reduce",
          .doc = "X[shape] -> Y, folded over some axes",
          .parameters = {{.name = "op",
                          .doc = "sum mean max min prod argmax argmin any all",
                          .kind = ParameterKind::Text},
                         shape_parameter("extents of X, such as 4x5x6"),
                         axes_parameter("the axes to fold, such as 0x2; -1 is the last"),
                         flag_parameter("keep", "1: folded axes stay, with extent 1"),
                         dtype_parameter()},
          .operands = {},
          .batch = "",
          .build = [](const Arguments& arguments) -> Result<std::shared_ptr<const Dag>> {
            const auto kind = TRY(choose("reduce", "op", arguments.text("op"), kKinds));
            return reduce(static_cast<ReduceKind>(kind), arguments.shape("shape"),
                          arguments.shape("axes"), arguments.flag("keep"),
                          arguments.scalar("dtype"));
          }};
}

}  // namespace tilewright::te
