// Reductions over some dimensions.
//
//   reduce(x; kind, axes, keep=0)
//     sum mean max min prod any all   as in te/ops/reduce.h; a mean of integers drops the fraction
//     l1 l2 sum_square                sum of |x|, root of the sum of squares, sum of squares
//     log_sum log_sum_exp             of floats; the exponentials with the maximum subtracted:
//                                     stages M, S, Y
//     Over no axes it is the function of one element.
//   arg_reduce(x; kind=max|min, axis=0, keep=0, last=0)
//     The index as i64, of the first of equal elements, or of the last.
//   cum_sum(x; axis=0, exclusive=0, reverse=0)
//     As in te/ops/scan.h.
#include <fmt/format.h>

#include <numeric>

#include "graph/ops/common.h"
#include "graph/ops/families.h"
#include "te/ops/reduce.h"
#include "te/ops/rows.h"
#include "te/ops/scan.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;
using te::Indices;

enum class Kind : uint8_t {
  Sum,
  Mean,
  Max,
  Min,
  Prod,
  Any,
  All,
  L1,
  L2,
  SumSquare,
  LogSum,
  LogSumExp,
};
constexpr std::string_view kKinds[] = {"sum",  "mean",       "max",     "min",
                                       "prod", "any",        "all",     "l1",
                                       "l2",   "sum_square", "log_sum", "log_sum_exp"};

// The kinds that te/ops/reduce.h has for the type.
std::optional<te::ReduceKind> known_kind(Kind kind, Scalar element) {
  switch (kind) {
    case Kind::Sum:
      return te::ReduceKind::Sum;
    case Kind::Mean:
      if (!ir::is_float(element)) return {};
      return te::ReduceKind::Mean;
    case Kind::Max:
      return te::ReduceKind::Max;
    case Kind::Min:
      return te::ReduceKind::Min;
    case Kind::Prod:
      return te::ReduceKind::Prod;
    case Kind::Any:
      return te::ReduceKind::Any;
    case Kind::All:
      return te::ReduceKind::All;
    default:
      return {};
  }
}

// The term of an element.
Expr term_of(Kind kind, const Expr& x) {
  switch (kind) {
    case Kind::L1:
      return ir::is_float(x.type()) || ir::is_signed(x.type().scalar) ? call(ir::Intrinsic::Abs, x)
                                                                      : x;
    case Kind::L2:
    case Kind::SumSquare:
      return x * x;
    default:
      return x;
  }
}

// The result from the sum of `count` terms.
Expr result_of_sum(Kind kind, const Expr& sum, double count) {
  switch (kind) {
    case Kind::L2:
      return call(ir::Intrinsic::Sqrt, sum);
    case Kind::LogSum:
      return call(ir::Intrinsic::Log, sum);
    case Kind::Mean: {  // of integers; the quotient of ir rounds down
      const Expr down = sum / number(count, sum);
      const Expr rest = ir::binary(BinaryOp::Ne, sum % number(count, sum), number(0, sum));
      return ir::select(sum < number(0, sum) && rest, down + number(1, down), down);
    }
    default:
      return sum;
  }
}

Status check_kind(const OpDef& op, Kind kind, Scalar element) {
  switch (kind) {
    case Kind::Any:
    case Kind::All:
      return {};
    case Kind::L2:
    case Kind::LogSum:
    case Kind::LogSumExp:
      return require_float(op, element);
    default:
      return require_number(op, element);
  }
}

// Over no axes: elementwise.
DagResult reduce_nothing(const TensorType& x, Kind kind) {
  te::DagBuilder builder;
  const te::TensorId from = placeholder(builder, "X", x);
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const Expr value = builder.read(from, te::vars_of(axes));
  const bool logical = kind == Kind::Any || kind == Kind::All;
  const Expr result = kind == Kind::Mean || kind == Kind::LogSumExp
                          ? value
                          : result_of_sum(kind, term_of(kind, value), 1);
  return finish(std::move(builder), axes, result, logical ? Scalar::Bool : x.element);
}

// Drops or keeps the reduced dimensions of S in the last stage.
class Folding {
 public:
  Folding(const TensorType& x, std::span<const size_t> columns, bool keep)
      : x_(x), columns_(columns), keep_(keep) {}

  std::shared_ptr<const te::Dag> build(Kind kind) && {
    const te::TensorId x = placeholder(builder_, "X", x_);
    const te::Rows rows = te::rows_of(builder_, x_.shape, columns_);
    const auto sum_type = [&](const Expr& value) {
      return kind == Kind::Mean && !ir::is_float(x_.element)
                 ? Scalar::I64
                 : te::accumulator_of(value.type().scalar);
    };
    te::TensorId maxima = 0;
    if (kind == Kind::LogSumExp) {
      maxima = rows.reduce("M", BinaryOp::Max,
                           [&](const Indices&, const Indices& at) { return builder_.read(x, at); });
    }
    const te::TensorId sums =
        rows.reduce("S", BinaryOp::Add, [&](const Indices& row, const Indices& at) {
          const Expr value = builder_.read(x, at);
          if (kind == Kind::LogSumExp) return ir::exp(value - safe(builder_.read(maxima, row)));
          return term_of(kind, ir::cast(sum_type(value), value));
        });
    finish_with([&](const Indices& row) {
      const Expr sum = builder_.read(sums, row);
      if (kind == Kind::LogSumExp) {
        return call(ir::Intrinsic::Log, sum) + safe(builder_.read(maxima, row));
      }
      return result_of_sum(kind, sum, rows.columns());
    });
    return std::move(builder_).build();
  }

 private:
  // An infinite maximum is not subtracted: inf - inf would be NaN.
  static Expr safe(const Expr& maximum) {
    const double largest = maximum.type().scalar == Scalar::F64 ? 1e308 : 3e38;
    const Expr finite = call(ir::Intrinsic::Abs, maximum) < number(largest, maximum);
    return ir::select(finite, maximum, number(0, maximum));
  }

  void finish_with(const std::function<Expr(const Indices&)>& value) {
    std::vector<te::Axis> axes;
    Indices row;
    for (size_t d = 0; d < x_.shape.size(); ++d) {
      const bool folded = std::ranges::find(columns_, d) != columns_.end();
      if (folded && !keep_) continue;
      axes.push_back(builder_.axis(te::axis_name(d), folded ? 1 : x_.shape[d]));
      if (!folded) row.push_back(axes.back().var);
    }
    builder_.compute("Y", axes, value(row), x_.element);
  }

  const TensorType& x_;
  std::span<const size_t> columns_;
  bool keep_;
  te::DagBuilder builder_;
};

DagResult build_reduce(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  Reader read(op, attributes);
  const auto kind = static_cast<Kind>(read.choice("kind", "sum", kKinds));
  const std::vector<size_t> axes = read.axes("axes", x.shape.size());
  const bool keep = read.flag("keep");
  TRY(read.status());
  TRY(check_kind(op, kind, x.element));
  if (axes.empty()) return reduce_nothing(x, kind);
  if (const auto known = known_kind(kind, x.element)) {
    const Shape numbers(axes.begin(), axes.end());
    return te::reduce(*known, x.shape, numbers, keep, x.element);
  }
  return Folding(x, axes, keep).build(kind);
}

DagResult build_arg_reduce(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  constexpr std::string_view kEnds[] = {"max", "min"};
  const TensorType& x = *operands[0];
  TRY(require_number(op, x.element));
  Reader read(op, attributes);
  const bool is_min = read.choice("kind", "max", kEnds) == 1;
  const size_t axis = read.axis("axis", 0, x.shape.size());
  const bool keep = read.flag("keep"), last = read.flag("last");
  TRY(read.status());
  const int64_t axes[] = {static_cast<int64_t>(axis)};
  const te::ReduceKind kind = is_min ? te::ReduceKind::Argmin : te::ReduceKind::Argmax;
  return te::reduce(kind, x.shape, axes, keep, x.element, last);
}

DagResult build_cum_sum(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& x = *operands[0];
  TRY(require_number(op, x.element));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", 0, x.shape.size());
  const bool exclusive = read.flag("exclusive"), reverse = read.flag("reverse");
  TRY(read.status());
  return te::cumulative_sum({.shape = x.shape,
                             .axis = static_cast<int64_t>(axis),
                             .exclusive = exclusive,
                             .reverse = reverse,
                             .element = x.element});
}

constexpr OpDef kOps[] = {
    {"reduce", Work::Rows, 1, 1, build_reduce},
    {"arg_reduce", Work::Rows, 1, 1, build_arg_reduce},
    {"cum_sum", Work::Rows, 1, 1, build_cum_sum},
};

}  // namespace

std::span<const OpDef> reduce_ops() { return kOps; }

}  // namespace tilewright::graph
