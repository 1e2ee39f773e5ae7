#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "graph/op_table.h"

namespace tilewright::graph {
namespace {

std::string print_values(const Graph& graph, const std::vector<ValueId>& ids, bool types) {
  std::vector<std::string> parts;
  parts.reserve(ids.size());
  for (const ValueId id : ids) {
    if (id == kNone) {
      parts.emplace_back("-");
    } else if (types) {
      const Value& value = graph.value(id);
      parts.push_back(fmt::format("{}: {}", value.name, value.type.to_string()));
    } else {
      parts.push_back(graph.value(id).name);
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::vector<NodeId>> Graph::uses() const {
  std::vector<std::vector<NodeId>> readers(values_.size());
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    for (const ValueId input : nodes_[id].inputs) {
      if (input == kNone) continue;
      std::vector<NodeId>& of = readers[input];
      if (of.empty() || of.back() != id) of.push_back(id);
    }
  }
  return readers;
}

ValueId Graph::add_value(std::string name, TensorType type) {
  if (name.empty()) name = "value";
  if (names_.contains(name)) {
    size_t number = values_.size();
    while (names_.contains(fmt::format("{}_{}", name, number))) ++number;
    name = fmt::format("{}_{}", name, number);
  }
  names_.insert(name);
  Value value;
  value.name = std::move(name);
  value.type = std::move(type);
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(std::string name, TensorType type) {
  inputs_.push_back(add_value(std::move(name), std::move(type)));
  return inputs_.back();
}

ValueId Graph::add_constant(std::string name, Constant constant) {
  CHECK(!constant.empty(), "constant {} is empty", name);
  const ValueId id = add_value(std::move(name), constant.type());
  values_[id].constant = std::move(constant);
  return id;
}

Result<std::vector<ValueId>> Graph::add(Node node, std::span<const std::string> output_names) {
  const OpDef* op = find_op(node.op);
  if (op == nullptr) {
    return fail(ErrorKind::Unsupported, fmt::format("there is no operator {}", node.op));
  }
  std::vector<std::optional<TensorType>> operands;
  operands.reserve(node.inputs.size());
  for (const ValueId input : node.inputs) {
    CHECK(input == kNone || input < values_.size(), "{}: operand {} of {} values", node.op, input,
          values_.size());
    operands.push_back(input == kNone ? std::nullopt : std::optional(values_[input].type));
  }
  const auto dag = TRY(op->define(node.attributes, operands));
  const auto types = TRY(result_types(*dag));
  return add_typed(std::move(node), types, output_names);
}

std::vector<ValueId> Graph::add_typed(Node node, std::span<const TensorType> types,
                                      std::span<const std::string> output_names) {
  CHECK(!types.empty() && find_op(node.op) != nullptr, "a node {} with {} results", node.op,
        types.size());
  node.outputs.clear();
  for (size_t k = 0; k < types.size(); ++k) {
    std::string name = k < output_names.size() ? output_names[k] : std::string();
    if (name.empty()) name = fmt::format("{}_{}", node.op, nodes_.size());
    const ValueId id = add_value(std::move(name), types[k]);
    values_[id].producer = static_cast<NodeId>(nodes_.size());
    node.outputs.push_back(id);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

std::string Graph::to_string() const {
  std::string text = fmt::format("inputs {}\n", print_values(*this, inputs_, true));
  for (const Node& node : nodes_) {
    const std::string attributes = node.attributes.to_string();
    text += fmt::format("{} = {}({}{}{})\n", print_values(*this, node.outputs, true), node.op,
                        print_values(*this, node.inputs, false), attributes.empty() ? "" : "; ",
                        attributes);
  }
  return text + fmt::format("outputs {}\n", print_values(*this, outputs_, false));
}

GraphRewriter::GraphRewriter(const Graph& from) : from_(from), map_(from.value_count(), kNone) {
  for (const ValueId input : from.inputs()) {
    map_[input] = to_.add_input(from.value(input).name, from.value(input).type);
  }
  for (ValueId id = 0; id < from.value_count(); ++id) {
    const Value& value = from.value(id);
    if (value.is_constant()) map_[id] = to_.add_constant(value.name, value.constant);
  }
}

Status GraphRewriter::keep(const Node& node) {
  Node copy = node;
  bool same = true;  // the types of the operands
  for (ValueId& input : copy.inputs) {
    if (input == kNone) continue;
    const TensorType& before = from_.value(input).type;
    input = map_[input];
    CHECK(input != kNone, "{}: an operand has no place in the new Graph", node.op);
    same = same && to_.value(input).type == before;
  }
  std::vector<std::string> names;
  std::vector<TensorType> types;
  for (const ValueId output : node.outputs) {
    names.push_back(from_.value(output).name);
    types.push_back(from_.value(output).type);
  }
  const std::vector<ValueId> made =
      TRY(same ? to_.add_typed(std::move(copy), types, names) : to_.add(std::move(copy), names));
  CHECK(made.size() == node.outputs.size(), "{}: {} results became {}", node.op,
        node.outputs.size(), made.size());
  for (size_t k = 0; k < made.size(); ++k) map_[node.outputs[k]] = made[k];
  return {};
}

Graph GraphRewriter::finish() && {
  std::vector<ValueId> outputs;
  outputs.reserve(from_.outputs().size());
  for (const ValueId output : from_.outputs()) {
    CHECK(map_[output] != kNone, "output {} has no place in the new Graph",
          from_.value(output).name);
    outputs.push_back(map_[output]);
  }
  to_.set_outputs(std::move(outputs));
  to_.set_output_names(from_.output_names());
  return std::move(to_);
}

}  // namespace tilewright::graph
