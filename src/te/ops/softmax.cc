#include "te/ops/softmax.h"

namespace tilewright::te {
namespace {

TensorId add_maxima(DagBuilder& builder, TensorId x, const Rows& rows) {
  return rows.reduce("M", ir::BinaryOp::Max,
                     [&](const Indices&, const Indices& at) { return builder.read(x, at); });
}

Rows matrix_rows(DagBuilder& builder, int64_t m, int64_t n) {
  return rows_with_columns(builder, {{.name = "i", .extent = m}}, n);
}

std::vector<Parameter> parameters() {
  return {{.name = "m", .doc = "rows"}, {.name = "n", .doc = "columns"}, dtype_parameter()};
}

using Maker = std::shared_ptr<const Dag> (*)(int64_t m, int64_t n, ir::Scalar element);

Result<std::shared_ptr<const Dag>> build(std::string_view op, Maker make,
                                         const Arguments& arguments) {
  const ir::Scalar element = arguments.scalar("dtype");
  TRY(require_float(op, element));
  return make(arguments.integer("m"), arguments.integer("n"), element);
}

}  // namespace

SoftmaxStages add_softmax(DagBuilder& builder, TensorId x, const Rows& rows, double scale) {
  SoftmaxStages stages;
  stages.maxima = add_maxima(builder, x, rows);
  stages.powers = rows.each("E", [&](const Indices& row, const Indices& at) {
    const ir::Expr power = builder.read(x, at) - builder.read(stages.maxima, row);
    return ir::exp(scale == 1 ? power : power * ir::imm(scale, power.type()));
  });
  stages.sums = rows.reduce("S", ir::BinaryOp::Add, [&](const Indices&, const Indices& at) {
    return builder.read(stages.powers, at);
  });
  // One division per row, not counted: the suite's FLOP have one operation per element for it.
  stages.reciprocals = rows.each_row("R", [&](const Indices& row) {
    const ir::Expr sum = builder.read(stages.sums, row);
    return ir::imm(1, sum.type()) / sum;
  });
  return stages;
}

TensorId add_quotients(DagBuilder& builder, const SoftmaxStages& stages, const Rows& rows,
                       ir::Scalar element) {
  return rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return builder.read(stages.powers, at) * builder.read(stages.reciprocals, row);
      },
      element);
}

TensorId add_log_softmax(DagBuilder& builder, TensorId x, const Rows& rows, ir::Scalar element) {
  const TensorId maxima = add_maxima(builder, x, rows);
  const TensorId sums =
      rows.reduce("S", ir::BinaryOp::Add, [&](const Indices& row, const Indices& at) {
        return ir::exp(builder.read(x, at) - builder.read(maxima, row));
      });
  const TensorId logs = rows.each_row(
      "L",
      [&](const Indices& row) { return ir::call(ir::Intrinsic::Log, {builder.read(sums, row)}); },
      /*counted=*/true);
  return rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return builder.read(x, at) - builder.read(maxima, row) - builder.read(logs, row);
      },
      element);
}

std::shared_ptr<const Dag> softmax(int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {m, n}, element);
  const Rows rows = matrix_rows(builder, m, n);
  add_quotients(builder, add_softmax(builder, x, rows), rows, element);
  return std::move(builder).build();
}

std::shared_ptr<const Dag> log_softmax(int64_t m, int64_t n, ir::Scalar element) {
  DagBuilder builder;
  const TensorId x = builder.placeholder("X", {m, n}, element);
  add_log_softmax(builder, x, matrix_rows(builder, m, n), element);
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
