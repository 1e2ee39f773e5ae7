// softmax(x; axis=-1, log=0), with the maximum subtracted. Stages as te/ops/softmax.h has them, for
// any axis and any dimensions around it: M, E, S, R, Y; of the logarithm M, S, L, Y.
#include "graph/ops/families.h"
#include "graph/ops/rows.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using Indices = std::vector<Expr>;

void add_softmax(te::DagBuilder& builder, te::TensorId x, const Rows& rows, te::TensorId maxima,
                 ir::Scalar element) {
  const te::TensorId powers = rows.each("E", [&](const Indices& row, const Indices& at) {
    return ir::exp(builder.read(x, at) - builder.read(maxima, row));
  });
  const te::TensorId sums = rows.fold("S", BinaryOp::Add, [&](const Indices&, const Indices& at) {
    return builder.read(powers, at);
  });
  const te::TensorId reciprocals = rows.each_row("R", [&](const Indices& row) {
    const Expr sum = builder.read(sums, row);
    return number(1, sum) / sum;
  });
  rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return builder.read(powers, at) * builder.read(reciprocals, row);
      },
      element);
}

void add_log_softmax(te::DagBuilder& builder, te::TensorId x, const Rows& rows, te::TensorId maxima,
                     ir::Scalar element) {
  const te::TensorId sums =
      rows.fold("S", BinaryOp::Add, [&](const Indices& row, const Indices& at) {
        return ir::exp(builder.read(x, at) - builder.read(maxima, row));
      });
  const te::TensorId logs = rows.each_row(
      "L", [&](const Indices& row) { return call(ir::Intrinsic::Log, builder.read(sums, row)); },
      /*counted=*/true);
  rows.each(
      "Y",
      [&](const Indices& row, const Indices& at) {
        return builder.read(x, at) - builder.read(maxima, row) - builder.read(logs, row);
      },
      element);
}

DagResult build_softmax(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  if (const Status legal = require_float(op, type.element); !legal) {
    return std::unexpected(legal.error());
  }
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const bool log = read.flag("log");
  if (!read) return read.error();
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const Rows rows(builder, type.shape, {{axis}});
  const te::TensorId maxima = rows.fold(
      "M", BinaryOp::Max, [&](const Indices&, const Indices& at) { return builder.read(x, at); });
  if (log) {
    add_log_softmax(builder, x, rows, maxima, type.element);
  } else {
    add_softmax(builder, x, rows, maxima, type.element);
  }
  return std::move(builder).build();
}

constexpr OpDef kOps[] = {{"softmax", Work::Rows, 1, 1, build_softmax}};

}  // namespace

std::span<const OpDef> softmax_ops() { return kOps; }

}  // namespace tilewright::graph
