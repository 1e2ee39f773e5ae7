// softmax(x; axis=-1, log=0), with the maximum subtracted: the stages of te/ops/softmax.h for any
// axis and any dimensions around it.
#include "te/ops/softmax.h"

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

DagResult build_softmax(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const TensorType& type = *operands[0];
  TRY(require_float(op, type.element));
  Reader read(op, attributes);
  const size_t axis = read.axis("axis", -1, type.shape.size());
  const bool log = read.flag("log");
  TRY(read.status());
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const te::Rows rows = te::rows_of(builder, type.shape, {{axis}});
  if (log) {
    te::add_log_softmax(builder, x, rows, type.element);
  } else {
    te::add_quotients(builder, te::add_softmax(builder, x, rows), rows, type.element);
  }
  return std::move(builder).build();
}

constexpr OpDef kOps[] = {{"softmax", Work::Rows, 1, 1, build_softmax}};

}  // namespace

std::span<const OpDef> softmax_ops() { return kOps; }

}  // namespace tilewright::graph
