#include "graph/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>

#include "base/check.h"
#include "graph/expr_evaluator.h"
#include "graph/op_table.h"
#include "te/iterations.h"
#include "te/shape_of.h"

namespace tilewright::graph {
namespace {

constexpr double kMovedElement = 1.0 / 8;  // its cost, in iterations of other loops

// The load, if an operator's body is only a load, or one with casts of f16 to f32 and back.
const ir::Load* moved_load(const te::Dag& dag, const te::Op& op) {
  if (op.kind != te::OpKind::Compute || op.reduction || op.body.size() != 1) return nullptr;
  ir::Expr value = op.body[0];
  while (const auto* cast = value.as<ir::Cast>()) value = cast->value;
  const auto* load = value.as<ir::Load>();
  if (load == nullptr) return nullptr;
  const ir::Scalar element = dag.tensor(load->buffer).element;
  const bool round_trip = value.same_as(op.body[0]) || ir::arithmetic_type(element) != element;
  return dag.tensor(op.outputs[0]).element == element && round_trip ? load : nullptr;
}

// The flat offset of a moved element as an affine function of the axes.
struct Strides {
  int64_t constant = 0;
  std::vector<int64_t> of_axis;
};

std::optional<Strides> strides_of(const te::Dag& dag, te::OpId id) {
  const te::Op& op = dag.op(id);
  const ir::Load* load = moved_load(dag, op);
  if (load == nullptr || dag.access(id).reads.size() != 1) return {};
  const te::Access& access = dag.access(id).reads[0];
  Strides strides{.constant = 0, .of_axis = std::vector<int64_t>(op.axes.size())};
  int64_t step = 1;
  for (size_t d = access.dims.size(); d-- > 0;) {
    const te::AccessDim& dim = access.dims[d];
    if (!dim.affine) return {};
    strides.constant += dim.index.constant * step;
    for (const arith::Term& term : dim.index.terms) {
      strides.of_axis.at(term.var) += term.coefficient * step;
    }
    step *= dag.tensor(load->buffer).shape[d].high;
  }
  return strides;
}

// Copies runs along the innermost axis.
void move(const Array& from, const Strides& strides, std::span<const te::Axis> axes,
          std::span<std::byte> to) {
  const auto width = static_cast<size_t>(ir::bytes_of(from.element));
  const auto outer = axes.first(axes.empty() ? 0 : axes.size() - 1);
  const int64_t run = axes.empty() ? 1 : axes.back().extent.high;
  const int64_t step = axes.empty() ? 0 : strides.of_axis.back();
  std::vector<int64_t> place(outer.size());
  std::byte* out = to.data();
  bool more = true;
  while (more) {
    int64_t offset = strides.constant;
    for (size_t d = 0; d < place.size(); ++d) offset += place[d] * strides.of_axis[d];
    const std::byte* in = from.bytes.data() + offset * static_cast<int64_t>(width);
    if (step == 1) {
      std::memcpy(out, in, static_cast<size_t>(run) * width);
    } else {
      for (int64_t k = 0; k < run; ++k) {
        std::memcpy(out + k * static_cast<int64_t>(width),
                    in + k * step * static_cast<int64_t>(width), width);
      }
    }
    out += run * static_cast<int64_t>(width);
    more = te::next_iteration(place, outer, [](size_t, int64_t) {});
  }
}

// Computes all operators of a Dag in order.
class Interpreter {
 public:
  Interpreter(const te::Dag& dag, std::span<const Constant> inputs)
      : dag_(dag), arrays_(dag.tensors().size()), bytes_(dag.tensors().size()) {
    for (te::TensorId id = 0; id < dag.tensors().size(); ++id) {
      const te::Tensor& tensor = dag.tensor(id);
      arrays_[id].element = tensor.element;
      arrays_[id].shape = te::shape_of(tensor);
    }
    for (size_t k = 0; k < inputs.size(); ++k) arrays_[dag.inputs()[k]].bytes = inputs[k].bytes();
  }

  void run() {
    for (te::OpId id = 0; id < dag_.ops().size(); ++id) {
      const te::Op& op = dag_.op(id);
      if (op.kind == te::OpKind::Placeholder) continue;
      for (const te::TensorId output : op.outputs) allocate(output);
      if (const auto strides = strides_of(dag_, id)) {
        const ir::Load* load = moved_load(dag_, op);
        move(arrays_[load->buffer], *strides, op.axes, bytes_[op.outputs[0]]);
      } else if (op.reduction) {
        reduce(op);
      } else {
        compute(op);
      }
    }
  }

  std::vector<Constant> take_outputs() {
    std::vector<Constant> outputs;
    outputs.reserve(dag_.outputs().size());
    for (const te::TensorId id : dag_.outputs()) {
      outputs.push_back(Constant::of_bytes(
          {.element = arrays_[id].element, .shape = arrays_[id].shape}, std::move(bytes_[id])));
    }
    return outputs;
  }

 private:
  void allocate(te::TensorId id) {
    const TensorType type{.element = arrays_[id].element, .shape = arrays_[id].shape};
    bytes_[id].resize(static_cast<size_t>(type.bytes()));
    arrays_[id].bytes = bytes_[id];
  }

  void compute(const te::Op& op) {
    ExprEvaluator exprs(arrays_);
    std::vector<size_t> axes;
    axes.reserve(op.axes.size());
    for (const te::Axis& axis : op.axes) axes.push_back(exprs.variable(axis.var));
    const size_t body = exprs.add(op.body[0]);
    const ir::Scalar element = arrays_[op.outputs[0]].element;
    std::vector<int64_t> place(op.axes.size());
    const auto changed = [&](size_t d, int64_t at) { exprs.set(axes[d], {.i = at}); };
    int64_t offset = 0;
    do {
      store(bytes_[op.outputs[0]], element, offset++, exprs.value(body));
    } while (te::next_iteration(place, op.axes, changed));
  }

  void reduce(const te::Op& op) {
    const te::Reduction& reduction = *op.reduction;
    const size_t width = op.body.size();
    ExprEvaluator exprs(arrays_);
    std::vector<size_t> axes, columns, lhs, rhs, identity, bodies, combine;
    for (const te::Axis& axis : op.axes) axes.push_back(exprs.variable(axis.var));
    for (const te::Axis& axis : op.reduce_axes) columns.push_back(exprs.variable(axis.var));
    for (size_t k = 0; k < width; ++k) {
      lhs.push_back(exprs.variable(reduction.lhs[k]));
      rhs.push_back(exprs.variable(reduction.rhs[k]));
    }
    for (size_t k = 0; k < width; ++k) {
      identity.push_back(exprs.add(reduction.identity[k]));
      bodies.push_back(exprs.add(op.body[k]));
      combine.push_back(exprs.add(reduction.combine[k]));
    }
    const auto simple = reduction.simple_op();
    const ir::Scalar type = op.body[0].type().scalar;
    const auto set_axis = [&](size_t d, int64_t at) { exprs.set(axes[d], {.i = at}); };
    const auto set_column = [&](size_t d, int64_t at) { exprs.set(columns[d], {.i = at}); };
    std::vector<int64_t> place(op.axes.size()), column(op.reduce_axes.size());
    std::vector<Number> folded(width), term(width);
    int64_t offset = 0;
    do {
      for (size_t k = 0; k < width; ++k) folded[k] = exprs.value(identity[k]);
      do {
        if (simple) {
          folded[0] = apply(*simple, folded[0], exprs.value(bodies[0]), type);
          continue;
        }
        for (size_t k = 0; k < width; ++k) term[k] = exprs.value(bodies[k]);
        for (size_t k = 0; k < width; ++k) {
          exprs.set(lhs[k], folded[k]);
          exprs.set(rhs[k], term[k]);
        }
        for (size_t k = 0; k < width; ++k) folded[k] = exprs.value(combine[k]);
      } while (te::next_iteration(column, op.reduce_axes, set_column));
      for (size_t k = 0; k < width; ++k) {
        const te::TensorId output = op.outputs[k];
        const ir::Scalar element = arrays_[output].element;
        store(bytes_[output], element, offset,
              converted(folded[k], op.body[k].type().scalar, element));
      }
      ++offset;
    } while (te::next_iteration(place, op.axes, set_axis));
  }

  const te::Dag& dag_;
  std::vector<Array> arrays_;
  std::vector<std::vector<std::byte>> bytes_;
};

// The nodes that a value depends on, ascending; nothing if it depends on an input.
std::optional<std::vector<NodeId>> producers_of(const Graph& graph, ValueId value) {
  std::vector<NodeId> found;
  std::vector<bool> seen(graph.nodes().size());
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const Value& one = graph.value(open.back());
    open.pop_back();
    if (one.is_constant()) continue;
    if (one.producer == kNone) return {};
    if (seen[one.producer]) continue;
    seen[one.producer] = true;
    found.push_back(one.producer);
    for (const ValueId input : graph.node(one.producer).inputs) {
      if (input != kNone) open.push_back(input);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<std::vector<Constant>> evaluate(const te::Dag& dag, std::span<const Constant> inputs) {
  CHECK(inputs.size() == dag.inputs().size(), "{} constants for {} placeholders", inputs.size(),
        dag.inputs().size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const te::Tensor& tensor = dag.tensor(dag.inputs()[k]);
    bool fits = inputs[k].type().element == tensor.element &&
                inputs[k].type().shape.size() == tensor.shape.size();
    for (size_t d = 0; fits && d < tensor.shape.size(); ++d) {
      fits = tensor.shape[d].constant() == inputs[k].type().shape[d];
    }
    CHECK(fits, "{} is no {}", inputs[k].type().to_string(), tensor.name.text());
  }
  try {
    Interpreter interpreter(dag, inputs);
    interpreter.run();
    return interpreter.take_outputs();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::Unsupported,
                "not enough memory to compute a constant; the model requires a tensor that is too "
                "large");
  }
}

double work_of(const te::Dag& dag) {
  double work = 0;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    const te::Op& op = dag.op(id);
    if (op.kind == te::OpKind::Placeholder) continue;
    work += (strides_of(dag, id) ? kMovedElement : 1) * te::trip_count(op);
  }
  return work;
}

Result<Constant> constant_value(const Graph& graph, ValueId value, double max_work) {
  if (graph.value(value).is_constant()) return graph.value(value).constant;
  const auto producers = producers_of(graph, value);
  if (!producers) return Constant();
  std::map<ValueId, Constant> known;
  const auto constant_of = [&](ValueId id) {
    return graph.value(id).is_constant() ? graph.value(id).constant : known.at(id);
  };
  double work = 0;
  for (const NodeId id : *producers) {
    const Node& node = graph.node(id);
    if (node.op == "reshape") {
      known[node.outputs[0]] =
          constant_of(node.inputs[0]).reshaped(graph.value(node.outputs[0]).type.shape);
      continue;
    }
    std::vector<std::optional<TensorType>> types;
    std::vector<Constant> operands;
    for (const ValueId input : node.inputs) {
      types.push_back(input == kNone ? std::nullopt : std::optional(graph.value(input).type));
      if (input != kNone) operands.push_back(constant_of(input));
    }
    const auto dag = TRY(find_op(node.op)->define(node.attributes, types));
    work += work_of(*dag);
    if (work > max_work) return Constant();
    auto results = TRY(evaluate(*dag, operands));
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      known[node.outputs[k]] = std::move(results[k]);
    }
  }
  return known.at(value);
}

}  // namespace tilewright::graph
