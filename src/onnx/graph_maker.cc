#include "onnx/graph_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "graph/evaluate.h"
#include "graph/op_table.h"
#include "onnx/refusal.h"

namespace tilewright::onnx {
namespace {

using graph::Attributes;
using graph::Constant;
using graph::TensorType;

constexpr double kLittleWork = 65536;  // always folded
constexpr double kMaxWork = 4e6;       // folded if the value must be known

}  // namespace

Tensor GraphMaker::input(std::string name, TensorType type) {
  TensorState state;
  state.value = graph_.add_input(name, type);
  state.type = std::move(type);
  state.name = std::move(name);
  return &tensors_.emplace_back(std::move(state));
}

Tensor GraphMaker::known(Constant constant, std::string name) {
  TensorState state;
  state.type = constant.type();
  state.constant = std::move(constant);
  state.name = std::move(name);
  return &tensors_.emplace_back(std::move(state));
}

void GraphMaker::charge(const TensorType& type) {
  if (type.bytes() > made_bytes_left_) {
    not_supported(fmt::format("a constant {}: the model makes too many", type.to_string()));
  }
  made_bytes_left_ -= type.bytes();
}

Tensor GraphMaker::sequence(std::vector<Tensor> tensors) {
  TensorState state;
  state.sequence = std::move(tensors);
  return &tensors_.emplace_back(std::move(state));
}

graph::ValueId GraphMaker::value_of(Tensor tensor) {
  CHECK(tensor != nullptr && !tensor->lost, "a lost tensor in the Graph");
  if (tensor->type.elements() == 0) {
    not_supported(fmt::format("a tensor without elements ({})", tensor->type.to_string()));
  }
  if (tensor->value == graph::kNone) {
    tensor->value =
        graph_.add_constant(tensor->name.empty() ? "constant" : tensor->name, tensor->constant);
  }
  return tensor->value;
}

Tensor GraphMaker::apply(std::string_view op, Attributes attributes,
                         std::span<const Tensor> operands, const Origin& origin) {
  std::vector<std::optional<TensorType>> types;
  types.reserve(operands.size());
  for (const Tensor operand : operands) {
    if (operand != nullptr && operand->sequence) refuse("a sequence is used as a tensor");
    types.push_back(operand == nullptr ? std::nullopt : std::optional(operand->type));
  }
  const graph::OpDef* definition = graph::find_op(op);
  CHECK(definition != nullptr, "no operator {}", op);
  const auto dag = required(definition->define(attributes, types));
  const std::vector<TensorType> made = required(graph::result_types(*dag));
  CHECK(made.size() == 1, "{} has {} results", op, made.size());
  if (made[0].bytes() > max_bytes_) {
    not_supported(
        fmt::format("its result is {}: more than {} bytes", made[0].to_string(), max_bytes_));
  }
  const bool all_known =
      std::ranges::all_of(operands, [](Tensor t) { return t == nullptr || t->is_known(); });
  if (all_known && op == "reshape") {
    return known(operands[0]->constant.reshaped(made[0].shape), origin.name);
  }
  const double work = graph::work_of(*dag);
  if (all_known && work <= kLittleWork && work <= work_left_) {
    work_left_ -= work;
    std::vector<Constant> constants;
    for (const Tensor operand : operands) {
      if (operand != nullptr) constants.push_back(operand->constant);
    }
    const auto values = required(graph::evaluate(*dag, constants));
    return known(values[0], origin.name);
  }
  graph::Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  for (const Tensor operand : operands) {
    node.inputs.push_back(operand == nullptr ? graph::kNone : value_of(operand));
  }
  if (!origin.node.empty()) node.origin.push_back(origin.node);
  TensorState state;
  state.type = made[0];
  state.name = origin.name;
  const std::string names[] = {origin.name};
  state.value = graph_.add_typed(std::move(node), made, names)[0];
  return &tensors_.emplace_back(std::move(state));
}

std::optional<Constant> GraphMaker::constant_of(Tensor tensor) {
  if (tensor->sequence) refuse("a sequence is used as a tensor");
  if (!tensor->is_known() && work_left_ > 0) {
    const double max_work = std::min(kMaxWork, work_left_);
    tensor->constant = required(graph::constant_value(graph_, tensor->value, max_work));
    // The cost of the attempt is not known: it visited at least the nodes before this one.
    work_left_ -= static_cast<double>(graph_.nodes().size());
    if (tensor->is_known()) {
      work_left_ -= static_cast<double>(tensor->type.elements());
    } else if (inputs_behind(tensor).empty()) {
      work_left_ -= max_work;
    }
  }
  return tensor->is_known() ? std::optional(tensor->constant) : std::nullopt;
}

std::vector<std::string> GraphMaker::inputs_behind(Tensor tensor) const {
  if (work_left_ <= 0) return {};
  std::vector<bool> seen(graph_.value_count(), false);
  std::vector<graph::ValueId> open{tensor->value};
  while (!open.empty()) {
    const graph::ValueId id = open.back();
    open.pop_back();
    if (id == graph::kNone || seen[id]) continue;
    seen[id] = true;
    const graph::NodeId producer = graph_.value(id).producer;
    if (producer == graph::kNone) continue;
    const std::vector<graph::ValueId>& inputs = graph_.node(producer).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  std::vector<std::string> names;
  for (const graph::ValueId input : graph_.inputs()) {
    if (seen[input]) names.push_back(graph_.value(input).name);
  }
  return names;
}

graph::Graph GraphMaker::finish(std::span<const Tensor> outputs,
                                std::vector<std::string> names) && {
  std::vector<graph::ValueId> values;
  values.reserve(outputs.size());
  for (const Tensor output : outputs) values.push_back(value_of(output));
  graph_.set_outputs(std::move(values));
  graph_.set_output_names(std::move(names));
  return std::move(graph_);
}

}  // namespace tilewright::onnx
