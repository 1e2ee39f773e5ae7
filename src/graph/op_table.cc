#include "graph/op_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "graph/ops/families.h"
#include "te/iterations.h"
#include "te/ops/operator.h"
#include "te/shape_of.h"

namespace tilewright::graph {
namespace {

std::vector<OpDef> collect() {
  std::vector<OpDef> all;
  for (const auto family :
       {map_ops, unary_ops, quantize_ops, move_ops, index_ops, resize_ops, reduce_ops, softmax_ops,
        norm_ops, pool_ops, contract_ops, attention_ops, conv_ops, winograd_ops}) {
    const std::span<const OpDef> rows = family();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(all, {}, &OpDef::name);
  CHECK(std::ranges::adjacent_find(all, {}, &OpDef::name) == all.end(),
        "two operators have one name");
  return all;
}

Status check_type(std::string_view op, std::string_view what, const TensorType& type) {
  if (type.shape.size() > kMaxRank) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: {} has {} dimensions; up to {} are supported", op, what,
                            type.shape.size(), kMaxRank));
  }
  for (const int64_t extent : type.shape) {
    if (extent == 0) {
      return fail(ErrorKind::Unsupported, fmt::format("{}: not supported: empty tensor ({} is {})",
                                                      op, what, type.to_string()));
    }
    if (extent < 0) {
      return fail(ErrorKind::BadInput,
                  fmt::format("{}: {} is {}: an extent is negative", op, what, type.to_string()));
    }
  }
  if (type.elements() > te::kMaxElements) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: {} is {}; tensors of up to {} elements are supported", op, what,
                            type.to_string(), te::kMaxElements));
  }
  return {};
}

Status check_operands(const OpDef& op, OperandTypes operands) {
  if (operands.size() < op.min_operands || operands.size() > op.max_operands) {
    const std::string wanted =
        op.min_operands == op.max_operands ? fmt::format("{}", op.min_operands)
        : op.max_operands == kAnyNumber    ? fmt::format("{} or more", op.min_operands)
                                        : fmt::format("{} to {}", op.min_operands, op.max_operands);
    return fail(ErrorKind::BadInput,
                fmt::format("{}: {} operands; {} are wanted", op.name, operands.size(), wanted));
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k]) {
      if (k >= op.min_operands) continue;
      return fail(ErrorKind::BadInput, fmt::format("{}: operand {} is left out", op.name, k));
    }
    TRY(check_type(op.name, fmt::format("operand {}", k), *operands[k]));
  }
  return {};
}

// Fails if the number of iterations overflows.
Status check_loops(std::string_view name, const te::Dag& dag) {
  for (const te::Op& op : dag.ops()) {
    const double trips = te::trip_count(op);
    if (trips > static_cast<double>(te::kMaxTrips)) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("{}: {:.3g} steps are too many", name, trips));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const te::Dag>> OpDef::define(const Attributes& attributes,
                                                     OperandTypes operands) const {
  TRY(check_operands(*this, operands));
  std::shared_ptr<const te::Dag> dag = TRY(build(*this, attributes, operands));
  for (const te::TensorId id : dag->outputs()) {
    const te::Tensor& tensor = dag->tensor(id);
    const TensorType type = tensor_type(tensor);
    TRY(check_type(name, "the result", type));
  }
  TRY(check_loops(name, *dag));
  return dag;
}

std::span<const OpDef> all_ops() {
  static const std::vector<OpDef> all = collect();
  return all;
}

const OpDef* find_op(std::string_view name) {
  const std::span<const OpDef> all = all_ops();
  const auto at = std::ranges::lower_bound(all, name, {}, &OpDef::name);
  return at != all.end() && at->name == name ? &*at : nullptr;
}

TensorType tensor_type(const te::Tensor& tensor) {
  return {.element = tensor.element, .shape = te::shape_of(tensor)};
}

Result<std::vector<TensorType>> result_types(const te::Dag& dag) {
  std::vector<TensorType> types;
  types.reserve(dag.outputs().size());
  for (const te::TensorId id : dag.outputs()) {
    const te::Tensor& tensor = dag.tensor(id);
    if (!std::ranges::all_of(tensor.shape, &te::Extent::is_constant)) {
      return fail(ErrorKind::Unsupported, fmt::format("{}: a symbolic extent", tensor.name.text()));
    }
    types.push_back(tensor_type(tensor));
  }
  return types;
}

}  // namespace tilewright::graph
