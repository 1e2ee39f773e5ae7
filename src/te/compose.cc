#include "te/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "ir/visit.h"

namespace tilewright::te {
namespace {

// The replacement of a tensor of the copied Dag: a tensor of the builder, or a number.
struct Meaning {
  TensorId tensor = 0;
  ir::Expr number;
};

// Rewrites the variables and loads in the expressions of one operator. Shared subexpressions stay
// shared.
class Copier : public ir::Rewriter {
 public:
  Copier(ir::Substitution vars, const std::vector<Meaning>& tensors)
      : vars_(std::move(vars)), tensors_(tensors) {}

  ir::Expr rewrite(const ir::Expr& expr) override {
    const auto known = made_.find(expr.get());
    if (known != made_.end()) return known->second;
    ir::Expr copy = copy_of(expr);
    made_.emplace(expr.get(), copy);
    return copy;
  }
  using ir::Rewriter::rewrite;

  std::vector<ir::Expr> all(const std::vector<ir::Expr>& exprs) {
    std::vector<ir::Expr> copies;
    copies.reserve(exprs.size());
    for (const ir::Expr& expr : exprs) copies.push_back(rewrite(expr));
    return copies;
  }

 private:
  ir::Expr copy_of(const ir::Expr& expr) {
    if (const auto* var = expr.as<ir::Var>()) return vars_.at(var->id);
    if (const auto* load = expr.as<ir::Load>()) {
      const Meaning& meaning = tensors_.at(load->buffer);
      if (meaning.number.defined()) return meaning.number;
      return ir::load(load->type.scalar, meaning.tensor, all(load->indices));
    }
    return rewrite_children(expr);
  }

  ir::Substitution vars_;
  const std::vector<Meaning>& tensors_;
  std::unordered_map<const ir::Node*, ir::Expr> made_;
};

std::vector<Axis> copy_axes(DagBuilder& builder, const std::vector<Axis>& axes,
                            ir::Substitution& vars) {
  std::vector<Axis> copies;
  copies.reserve(axes.size());
  for (const Axis& axis : axes) {
    copies.push_back(builder.axis(axis.name.text(), axis.extent, axis.hints));
    vars.emplace(axis.id(), copies.back().var);
  }
  return copies;
}

std::vector<ir::Expr> copy_sides(const std::vector<ir::Expr>& sides, ir::Substitution& vars) {
  std::vector<ir::Expr> copies;
  copies.reserve(sides.size());
  for (const ir::Expr& side : sides) {
    const auto* var = side.as<ir::Var>();
    copies.push_back(ir::var(var->name.text(), var->type));
    vars.emplace(var->id, copies.back());
  }
  return copies;
}

// Copies one compute operator. `tensors` has the replacements of the tensors before it.
std::vector<TensorId> copy_op(DagBuilder& builder, const Dag& dag, const Op& op,
                              const std::vector<Meaning>& tensors, const std::string& name) {
  CHECK(op.kind == OpKind::Compute, "{} cannot be appended", op.name.text());
  ir::Substitution vars;
  std::vector<Axis> axes = copy_axes(builder, op.axes, vars);
  std::vector<Axis> reduce_axes = copy_axes(builder, op.reduce_axes, vars);
  std::vector<ir::Scalar> elements;
  elements.reserve(op.outputs.size());
  for (const TensorId output : op.outputs) elements.push_back(dag.tensor(output).element);
  std::vector<TensorId> made;
  if (op.reduction) {
    Reduction reduction;
    reduction.commutative = op.reduction->commutative;
    reduction.lhs = copy_sides(op.reduction->lhs, vars);
    reduction.rhs = copy_sides(op.reduction->rhs, vars);
    Copier copier(std::move(vars), tensors);
    reduction.identity = op.reduction->identity;
    reduction.combine = copier.all(op.reduction->combine);
    made = builder.reduce_tuple(name, std::move(axes), std::move(reduce_axes), std::move(reduction),
                                copier.all(op.body), elements);
  } else {
    Copier copier(std::move(vars), tensors);
    made = {builder.compute(name, std::move(axes), copier.rewrite(op.body[0]), elements[0])};
  }
  if (op.flop_override) builder.set_flop(made[0], *op.flop_override);
  return made;
}

// The replacements of the placeholders.
std::vector<Meaning> placeholder_meanings(const DagBuilder& builder, const Dag& dag,
                                          std::span<const TensorId> inputs,
                                          std::span<const ir::Expr> numbers) {
  CHECK(inputs.size() == dag.inputs().size(), "{} tensors for {} placeholders", inputs.size(),
        dag.inputs().size());
  std::vector<Meaning> tensors(dag.tensors().size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& placeholder = dag.tensor(dag.inputs()[k]);
    if (k < numbers.size() && numbers[k].defined()) {
      CHECK(numbers[k].type() == ir::Type(placeholder.element, 1), "a number of type {} for {}",
            ir::to_string(numbers[k].type()), placeholder.name.text());
      tensors[dag.inputs()[k]].number = numbers[k];
      continue;
    }
    const Tensor& given = builder.tensor(inputs[k]);
    CHECK(given.element == placeholder.element && given.shape == placeholder.shape,
          "{} cannot stand for {}", given.name.text(), placeholder.name.text());
    tensors[dag.inputs()[k]].tensor = inputs[k];
  }
  return tensors;
}

}  // namespace

std::vector<TensorId> append(DagBuilder& builder, const Dag& dag, std::span<const TensorId> inputs,
                             std::string_view prefix, std::span<const ir::Expr> numbers) {
  std::vector<Meaning> tensors = placeholder_meanings(builder, dag, inputs, numbers);
  std::vector<bool> is_read(dag.tensors().size());
  for (OpId id = 0; id < dag.ops().size(); ++id) {
    for (const Access& access : dag.access(id).reads) is_read[access.tensor] = true;
  }
  for (const Op& op : dag.ops()) {
    if (op.kind == OpKind::Placeholder) continue;
    const std::vector<TensorId> made =
        copy_op(builder, dag, op, tensors, fmt::format("{}{}", prefix, op.name.text()));
    for (size_t k = 0; k < made.size(); ++k) {
      const TensorId old = op.outputs[k];
      tensors[old].tensor = made[k];
      const bool kept = std::ranges::find(dag.outputs(), old) != dag.outputs().end();
      if (!kept && !is_read[old]) builder.discard(made[k]);
    }
  }
  std::vector<TensorId> outputs;
  outputs.reserve(dag.outputs().size());
  for (const TensorId output : dag.outputs()) outputs.push_back(tensors[output].tensor);
  return outputs;
}

}  // namespace tilewright::te
