#include "te/dag_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "te/check_op.h"
#include "te/flop.h"

namespace tilewright::te {
namespace {

void add_unique(std::vector<OpId>& ids, OpId id) {
  const auto place = std::ranges::lower_bound(ids, id);
  if (place == ids.end() || *place != id) ids.insert(place, id);
}

}  // namespace

TensorId DagBuilder::placeholder(std::string_view name, std::vector<Extent> shape,
                                 ir::Scalar element) {
  Op op;
  op.name = Name(name);
  op.kind = OpKind::Placeholder;
  for (size_t d = 0; d < shape.size(); ++d) {
    op.axes.push_back(axis("d" + std::to_string(d), shape[d]));
  }
  return add_op(std::move(op), {element});
}

Axis DagBuilder::axis(std::string_view name, Extent extent, AxisHints hints) {
  CHECK(is_plain_name(name), "'{}' is not a name for an axis", name);
  return {.name = Name(name), .var = ir::var(name), .extent = extent, .hints = hints};
}

ir::Expr DagBuilder::read(TensorId tensor, std::vector<ir::Expr> indices) const {
  CHECK(tensor < dag_.tensors_.size(), "tensor {} of {}", tensor, dag_.tensors_.size());
  const ir::Scalar element = dag_.tensors_[tensor].element;
  return ir::cast(ir::arithmetic_type(element), ir::load(element, tensor, std::move(indices)));
}

TensorId DagBuilder::compute(std::string_view name, std::vector<Axis> axes, ir::Expr value,
                             std::optional<ir::Scalar> element) {
  Op op;
  op.name = Name(name);
  op.axes = std::move(axes);
  const ir::Scalar stored = element.value_or(value.type().scalar);
  op.body = {ir::cast(stored, std::move(value))};
  return add_op(std::move(op), {stored});
}

TensorId DagBuilder::reduce(std::string_view name, std::vector<Axis> axes,
                            std::vector<Axis> reduce_axes, ir::BinaryOp op, const ir::Expr& value,
                            ir::Scalar element) {
  Reduction reduction = make_reduction(op, value.type().scalar);
  return reduce_tuple(name, std::move(axes), std::move(reduce_axes), std::move(reduction), {value},
                      {element})[0];
}

std::vector<TensorId> DagBuilder::reduce_tuple(std::string_view name, std::vector<Axis> axes,
                                               std::vector<Axis> reduce_axes, Reduction reduction,
                                               std::vector<ir::Expr> values,
                                               const std::vector<ir::Scalar>& elements) {
  Op op;
  op.name = Name(name);
  op.axes = std::move(axes);
  op.reduce_axes = std::move(reduce_axes);
  op.body = std::move(values);
  op.reduction = std::move(reduction);
  add_op(std::move(op), elements);
  return dag_.ops_.back().outputs;
}

void DagBuilder::set_flop(TensorId tensor, double flop) {
  dag_.ops_.at(dag_.tensors_.at(tensor).op).flop_override = flop;
}

void DagBuilder::discard(TensorId tensor) {
  CHECK(dag_.ops_.at(dag_.tensors_.at(tensor).op).outputs.size() > 1, "{} is not of a tuple",
        dag_.tensors_[tensor].name.text());
  discarded_.push_back(tensor);
}

TensorId DagBuilder::add_op(Op op, const std::vector<ir::Scalar>& elements) {
  const auto outputs = add(std::move(op), elements);
  CHECK(outputs.has_value(), "{}", outputs.error().message);
  return outputs->front();
}

Result<std::vector<TensorId>> DagBuilder::add(Op op, const std::vector<ir::Scalar>& elements) {
  TRY(check_op(op, elements, dag_.tensors_));
  if (dag_.find_op(op.name)) {
    return fail(ErrorKind::BadInput, fmt::format("two operators are called {}", op.name.text()));
  }
  const auto first = static_cast<TensorId>(dag_.tensors_.size());
  for (uint32_t k = 0; k < elements.size(); ++k) {
    Tensor tensor;
    tensor.name = elements.size() == 1 ? op.name : op.name.child(k);
    tensor.op = static_cast<OpId>(dag_.ops_.size());
    tensor.output = k;
    tensor.element = elements[k];
    for (const Axis& axis : op.axes) tensor.shape.push_back(axis.extent);
    op.outputs.push_back(first + k);
    dag_.tensors_.push_back(std::move(tensor));
  }
  dag_.ops_.push_back(std::move(op));
  return dag_.ops_.back().outputs;
}

std::shared_ptr<const Dag> DagBuilder::build() && {
  const auto dag = std::move(*this).finish();
  CHECK(dag.has_value(), "{}", dag.error().message);
  return *dag;
}

Result<std::shared_ptr<const Dag>> DagBuilder::finish() && {
  const size_t count = dag_.ops_.size();
  dag_.consumers_.resize(count);
  dag_.producers_.resize(count);
  std::vector<bool> is_read(dag_.tensors_.size());
  std::unordered_set<ir::VarId> seen;
  for (OpId id = 0; id < count; ++id) {
    const Op& op = dag_.ops_[id];
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const Axis& axis : *axes) {
        CHECK(seen.insert(axis.id()).second, "{}: axis {} belongs to another operator too",
              op.name.text(), axis.name.text());
      }
    }
    dag_.access_.push_back(analyze_access(op));
    for (const Access& access : dag_.access_.back().reads) {
      const OpId producer = dag_.tensors_[access.tensor].op;
      is_read[access.tensor] = true;
      add_unique(dag_.producers_[id], producer);
      add_unique(dag_.consumers_[producer], id);
    }
    dag_.flop_ += count_flop(op);
  }
  for (TensorId id = 0; id < dag_.tensors_.size(); ++id) {
    const bool placeholder = dag_.ops_[dag_.tensors_[id].op].kind == OpKind::Placeholder;
    if (placeholder) dag_.inputs_.push_back(id);
    const bool kept = std::ranges::find(discarded_, id) == discarded_.end();
    if (!placeholder && !is_read[id] && kept) dag_.outputs_.push_back(id);
  }
  if (dag_.outputs_.empty()) {
    return fail(ErrorKind::BadInput, "it computes nothing: no operator has an output that is kept");
  }
  return std::make_shared<const Dag>(std::move(dag_));
}

}  // namespace tilewright::te
