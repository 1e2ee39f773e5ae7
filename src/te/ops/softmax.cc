#include "te/ops/softmax.h"

#include "te/ops/dimensions.h"

namespace tilewright::te {
namespace {

std::vector<Axis> row_axes(DagBuilder& builder, std::span<const RowAxis> rows) {
  std::vector<Axis> axes;
  axes.reserve(rows.size() + 1);
  for (const RowAxis& row : rows) axes.push_back(builder.axis(row.name, row.extent));
  return axes;
}

// Axes of one element of a row: those of the rows, then the column.
struct Element {
  std::vector<Axis> rows;
  Axis column;
  std::vector<ir::Expr> row() const { return vars_of(rows); }
  std::vector<ir::Expr> indices() const {
    std::vector<ir::Expr> all = vars_of(rows);
    all.push_back(column.var);
    return all;
  }
  std::vector<Axis> axes() const {
    std::vector<Axis> all = rows;
    all.push_back(column);
    return all;
  }
};

Element element_of(DagBuilder& builder, std::span<const RowAxis> rows, std::string_view column,
                   int64_t columns) {
  return {.rows = row_axes(builder, rows), .column = builder.axis(column, columns)};
}

TensorId add_row_maxima(DagBuilder& builder, TensorId x, std::span<const RowAxis> rows,
                        int64_t columns) {
  const Element at = element_of(builder, rows, "k", columns);
  const ir::Expr value = builder.read(x, at.indices());
  return builder.reduce("M", at.rows, {at.column}, ir::BinaryOp::Max, value, value.type().scalar);
}

std::vector<Parameter> parameters() {
  return {{.name = "m", .doc = "rows"}, {.name = "n", .doc = "columns"}, dtype_parameter()};
}

using Maker = std::shared_ptr<const Dag> (*)(int64_t m, int64_t n, ir::Scalar element);

Result<std::shared_ptr<const Dag>> build(std::string_view op, Maker make,
                                         const Arguments& arguments) {
  const ir::Scalar element = arguments.scalar("dtype");
  if (const Status real = require_float(op, element); !real) return std::unexpected(real.error());
  return make(arguments.integer("m"), arguments.integer("n"), element);
}

}  // namespace

SoftmaxStages add_softmax(DagBuilder& builder, TensorId x, std::span<const RowAxis> rows,
                          int64_t columns, double scale) {
  SoftmaxStages stages;
  stages.maxima = add_row_maxima(builder, x, rows, columns);
  const Element at = element_of(builder, rows, "j", columns);
  ir::Expr power = builder.read(x, at.indices()) - builder.read(stages.maxima, at.row());
  if (scale != 1) power = power * ir::imm(scale, power.type());
  stages.powers = builder.compute("E", at.axes(), ir::exp(power));
  const Element of = element_of(builder, rows, "k", columns);
  const ir::Expr term = builder.read(stages.powers, of.indices());
  stages.sums =
      builder.reduce("S", of.rows, {of.column}, ir::BinaryOp::Add, term, term.type().scalar);
  // One division a row. It does not count: the suite's flop has one operation an element for it.
  const std::vector<Axis> row = row_axes(builder, rows);
  const ir::Expr sum = builder.read(stages.sums, vars_of(row));
  stages.reciprocals = builder.compute("R", row, ir::imm(1, sum.type()) / sum);
  builder.set_flop(stages.reciprocals, 0);
  return stages;
}

TensorId add_quotients(DagBuilder& builder, const SoftmaxStages& stages,
                       std::span<const RowAxis> rows, int64_t columns, ir::Scalar element) {
  const Element at = element_of(builder, rows, "j", columns);
  return builder.compute(
      "Y", at.axes(),
      builder.read(stages.powers, at.indices()) * builder.read(stages.reciprocals, at.row()),
      element);
}

std::shared_ptr<const Dag> softmax(int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {m, n}, element);
  const RowAxis rows[] = {{.name = "i", .extent = m}};
  add_quotients(builder, add_softmax(builder, x, rows, n), rows, n, element);
  return std::move(builder).build();
}

std::shared_ptr<const Dag> log_softmax(int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {m, n}, element);
  const RowAxis rows[] = {{.name = "i", .extent = m}};
  const TensorId maxima = add_row_maxima(builder, x, rows, n);
  const Element of = element_of(builder, rows, "k", n);
  const ir::Expr power = ir::exp(builder.read(x, of.indices()) - builder.read(maxima, of.row()));
  const TensorId sums =
      builder.reduce("S", of.rows, {of.column}, ir::BinaryOp::Add, power, power.type().scalar);
  const std::vector<Axis> row = row_axes(builder, rows);
  const TensorId logs =
      builder.compute("L", row, ir::call(ir::Intrinsic::Log, {builder.read(sums, vars_of(row))}));
  const Element at = element_of(builder, rows, "j", n);
  builder.compute(
      "Y", at.axes(),
      builder.read(x, at.indices()) - builder.read(maxima, at.row()) - builder.read(logs, at.row()),
      element);
  return std::move(builder).build();
}

Operator softmax_operator() {
  return {.name = "softmax",
          .doc = "X[m,n] -> Y[m,n] over the last axis, maximum subtracted",
          .parameters = parameters(),
          .operands = {},
          .batch = "m",
          .build = [](const Arguments& arguments) { return build("softmax", softmax, arguments); }};
}

Operator log_softmax_operator() {
  return {.name = "log_softmax",
          .doc = "X[m,n] -> Y[m,n], the logarithm of softmax over the last axis",
          .parameters = parameters(),
          .operands = {},
          .batch = "m",
          .build = [](const Arguments& arguments) {
            return build("log_softmax", log_softmax, arguments);
          }};
}

}  // namespace tilewright::te
