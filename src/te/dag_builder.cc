#include "te/dag_builder.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "base/check.h"
#include "ir/visit.h"
#include "te/flop.h"

namespace tilewright::te {
namespace {

bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

// Checks one expression of an operator: known variables, and loads of existing tensors with their
// element type and one I64 index per dimension.
class BodyChecker : public ir::Visitor {
 public:
  BodyChecker(const Name& op, std::unordered_set<ir::VarId> vars,
              const std::vector<Tensor>& tensors)
      : op_(op.text()), vars_(std::move(vars)), tensors_(tensors) {}

  void visit(const ir::Expr& expr) override {
    if (const auto* node = expr.as<ir::Var>()) {
      CHECK(vars_.contains(node->id), "{}: variable {} is not an axis of it", op_,
            node->name.text());
    } else if (const auto* load = expr.as<ir::Load>()) {
      CHECK(load->buffer < tensors_.size(), "{}: reads tensor {}, which is not defined yet", op_,
            load->buffer);
      const Tensor& tensor = tensors_[load->buffer];
      CHECK(load->type == ir::Type(tensor.element, 1), "{}: reads {} as {}", op_,
            tensor.name.text(), ir::to_string(load->type));
      CHECK(load->indices.size() == tensor.shape.size(), "{}: reads {} with {} indices", op_,
            tensor.name.text(), load->indices.size());
      for (const ir::Expr& index : load->indices) {
        CHECK(index.type() == ir::kIndex, "{}: an index of {} is {}", op_, tensor.name.text(),
              ir::to_string(index.type()));
      }
    }
    ir::Visitor::visit(expr);
  }

 private:
  const std::string& op_;
  std::unordered_set<ir::VarId> vars_;
  const std::vector<Tensor>& tensors_;
};

void check_axes(const Op& op) {
  std::unordered_set<uint32_t> names;
  std::unordered_set<ir::VarId> vars;
  for (const auto* axes : {&op.axes, &op.reduce_axes}) {
    for (const Axis& axis : *axes) {
      CHECK(axis.extent.low >= 1, "{}: axis {} is empty", op.name.text(), axis.name.text());
      CHECK(names.insert(axis.name.id()).second, "{}: two axes are called {}", op.name.text(),
            axis.name.text());
      CHECK(vars.insert(axis.id()).second, "{}: axis {} twice", op.name.text(), axis.name.text());
    }
  }
}

void check_reduction(const Op& op, const std::vector<Tensor>& tensors) {
  const Reduction& reduction = *op.reduction;
  const size_t width = op.body.size();
  CHECK(!op.reduce_axes.empty(), "{}: a reduction over no axis", op.name.text());
  CHECK(reduction.identity.size() == width && reduction.lhs.size() == width &&
            reduction.rhs.size() == width && reduction.combine.size() == width,
        "{}: a reduction of {} values with {}, {}, {} and {} parts", op.name.text(), width,
        reduction.identity.size(), reduction.lhs.size(), reduction.rhs.size(),
        reduction.combine.size());
  std::unordered_set<ir::VarId> sides;
  for (size_t k = 0; k < width; ++k) {
    const ir::Type type = op.body[k].type();
    CHECK(ir::arithmetic_type(type.scalar) == type.scalar, "{}: {} cannot accumulate",
          op.name.text(), ir::to_string(type));
    CHECK(reduction.identity[k].type() == type && reduction.lhs[k].type() == type &&
              reduction.rhs[k].type() == type && reduction.combine[k].type() == type,
          "{}: part {} of the reduction is not {}", op.name.text(), k, ir::to_string(type));
    sides.insert(reduction.lhs[k].as<ir::Var>()->id);
    sides.insert(reduction.rhs[k].as<ir::Var>()->id);
  }
  CHECK(sides.size() == 2 * width, "{}: lhs and rhs share a variable", op.name.text());
  BodyChecker combine(op.name, sides, tensors);
  for (const ir::Expr& part : reduction.combine) combine.visit(part);
  BodyChecker identity(op.name, {}, tensors);
  for (const ir::Expr& part : reduction.identity) identity.visit(part);
}

void check_op(const Op& op, const std::vector<ir::Scalar>& elements,
              const std::vector<Tensor>& tensors) {
  check_axes(op);
  if (op.kind == OpKind::Placeholder) return;
  CHECK(!op.body.empty() && op.body.size() == elements.size(), "{}: {} values for {} tensors",
        op.name.text(), op.body.size(), elements.size());
  std::unordered_set<ir::VarId> vars;
  for (const Axis& axis : op.axes) vars.insert(axis.id());
  for (const Axis& axis : op.reduce_axes) vars.insert(axis.id());
  BodyChecker checker(op.name, std::move(vars), tensors);
  for (size_t k = 0; k < op.body.size(); ++k) {
    CHECK(!op.body[k].type().is_vector(), "{}: a vector value", op.name.text());
    CHECK(op.reduction || op.body[k].type().scalar == elements[k], "{}: {} stored as {}",
          op.name.text(), ir::to_string(op.body[k].type()), ir::name_of(elements[k]));
    checker.visit(op.body[k]);
  }
  if (op.reduction) check_reduction(op, tensors);
}

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
  CHECK(is_plain(name), "'{}' is not a name for an axis", name);
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
  CHECK(is_plain(op.name.text()), "'{}' is not a name for an operator", op.name.text());
  CHECK(!dag_.find_op(op.name), "two operators are called {}", op.name.text());
  check_op(op, elements, dag_.tensors_);
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
  return first;
}

std::shared_ptr<const Dag> DagBuilder::build() && {
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
  CHECK(!dag_.outputs_.empty(), "a Dag that computes nothing");
  return std::make_shared<const Dag>(std::move(dag_));
}

}  // namespace tilewright::te
