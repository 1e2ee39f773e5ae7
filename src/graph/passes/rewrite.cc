#include "graph/passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "graph/op_table.h"

namespace tilewright::graph {
namespace {

std::vector<std::string> names_of_outputs(const Graph& graph) {
  if (!graph.output_names().empty()) return graph.output_names();
  std::vector<std::string> names;
  names.reserve(graph.outputs().size());
  for (const ValueId output : graph.outputs()) names.push_back(graph.value(output).name);
  return names;
}

std::vector<std::string> names_of_results(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  names.reserve(node.outputs.size());
  for (const ValueId output : node.outputs) names.push_back(graph.value(output).name);
  return names;
}

std::vector<TensorType> types_of_results(const Graph& graph, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.outputs.size());
  for (const ValueId output : node.outputs) types.push_back(graph.value(output).type);
  return types;
}

std::vector<bool> live_values(const Graph& graph) {
  std::vector<bool> live(graph.value_count(), false);
  for (const ValueId output : graph.outputs()) live[output] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (!std::ranges::any_of(node.outputs, [&](ValueId v) { return live[v]; })) continue;
    for (const ValueId input : node.inputs) {
      if (input != kNone) live[input] = true;
    }
  }
  return live;
}

}  // namespace

Rewrite::Rewrite(const Graph& from)
    : from_(from), map_(from.value_count(), kNone), old_reads_(from.value_count(), 0) {
  for (const Node& node : from.nodes()) {
    for (const ValueId input : node.inputs) {
      if (input != kNone) ++old_reads_[input];
    }
  }
  // An output counts twice: it is never read once.
  for (const ValueId output : from.outputs()) old_reads_[output] += 2;
  for (const ValueId input : from.inputs()) {
    replace(input, to_.add_input(from.value(input).name, from.value(input).type));
  }
  for (ValueId v = 0; v < from.value_count(); ++v) {
    const Value& value = from.value(v);
    if (value.producer != kNone || !value.is_constant() || map_[v] != kNone) continue;
    replace(v, to_.add_constant(value.name, value.constant));
  }
}

std::vector<ValueId> Rewrite::operands(const Node& old) const {
  std::vector<ValueId> now;
  now.reserve(old.inputs.size());
  for (const ValueId input : old.inputs) now.push_back(at(input));
  return now;
}

const Constant& Rewrite::constant(ValueId now) const {
  static const Constant empty;
  return now == kNone ? empty : to_.value(now).constant;
}

std::optional<double> Rewrite::scalar(ValueId now) const {
  const Constant& known = constant(now);
  if (known.empty() || known.type().elements() != 1) return std::nullopt;
  return known.number(0);
}

const Node* Rewrite::made_by(ValueId now) const {
  if (now == kNone || to_.value(now).producer == kNone) return nullptr;
  return &to_.node(to_.value(now).producer);
}

const Node* Rewrite::made_by(ValueId now, std::string_view op) const {
  const Node* node = made_by(now);
  return node != nullptr && node->op == op ? node : nullptr;
}

int Rewrite::reads(ValueId now) const {
  if (now < stands_.size() && stands_[now]) return reads_[now];
  return now < new_reads_.size() ? new_reads_[now] : 0;
}

void Rewrite::count(const Node& node) {
  new_reads_.resize(to_.value_count(), 0);
  for (const ValueId input : node.inputs) {
    if (input != kNone) ++new_reads_[input];
  }
}

Result<ValueId> Rewrite::add(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  CHECK(current_ != nullptr);
  Node node{.op = std::move(op),
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = {},
            .origin = current_->origin};
  const std::vector<std::string> names{from_.value(current_->outputs[0]).name};
  std::vector<ValueId> made = TRY(to_.add(std::move(node), names));
  CHECK(made.size() == 1);
  count(to_.nodes().back());
  return made.front();
}

ValueId Rewrite::add_constant(Constant constant) {
  const std::string name =
      current_ == nullptr ? "constant" : from_.value(current_->outputs[0]).name + ".constant";
  return to_.add_constant(name, std::move(constant));
}

Result<ValueId> Rewrite::reshape(ValueId now, const std::vector<int64_t>& shape) {
  if (this->shape(now) == shape) return now;
  if (!constant(now).empty()) return add_constant(constant(now).reshaped(shape));
  const Node* before = made_by(now, "reshape");
  const ValueId origin = before == nullptr ? now : before->inputs[0];
  if (this->shape(origin) == shape) return origin;
  return add("reshape", {origin}, {{"shape", shape}});
}

void Rewrite::enter(const Node& old) { current_ = &old; }

void Rewrite::replace(ValueId old, ValueId now) {
  map_[old] = now;
  reads_.resize(to_.value_count(), 0);
  stands_.resize(to_.value_count(), false);
  reads_[now] += old_reads_[old];
  stands_[now] = true;
}

Status Rewrite::replace_as(ValueId old, ValueId now) {
  CHECK(type(now).element == from_.value(old).type.element);
  const ValueId shaped = TRY(reshape(now, from_.value(old).type.shape));
  replace(old, shaped);
  return {};
}

Result<std::vector<ValueId>> Rewrite::copy(const Node& old, std::vector<ValueId> inputs) {
  Node node = old;
  node.inputs = std::move(inputs);
  node.outputs.clear();
  bool same = true;  // the types of the operands
  for (size_t i = 0; i < old.inputs.size(); ++i) {
    if (old.inputs[i] == kNone) continue;
    same = same && type(node.inputs[i]) == from_.value(old.inputs[i]).type;
  }
  const std::vector<std::string> names = names_of_results(from_, old);
  Result<std::vector<ValueId>> made =
      same ? to_.add_typed(std::move(node), types_of_results(from_, old), names)
           : to_.add(std::move(node), names);
  if (made) count(to_.nodes().back());
  return made;
}

Status Rewrite::keep(const Node& old) {
  const std::vector<ValueId> made = TRY(copy(old, operands(old)));
  for (size_t i = 0; i < made.size(); ++i) replace(old.outputs[i], made[i]);
  return {};
}

Graph Rewrite::finish() && {
  std::vector<ValueId> outputs;
  outputs.reserve(from_.outputs().size());
  for (const ValueId output : from_.outputs()) outputs.push_back(map_[output]);
  to_.set_outputs(std::move(outputs));
  to_.set_output_names(names_of_outputs(from_));
  return pruned(to_);
}

Graph pruned(const Graph& graph) {
  const std::vector<bool> live = live_values(graph);
  Graph result;
  std::vector<ValueId> map(graph.value_count(), kNone);
  for (const ValueId input : graph.inputs()) {
    map[input] = result.add_input(graph.value(input).name, graph.value(input).type);
  }
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Value& value = graph.value(v);
    if (!live[v] || map[v] != kNone || value.producer != kNone || !value.is_constant()) continue;
    map[v] = result.add_constant(value.name, value.constant);
  }
  for (const Node& old : graph.nodes()) {
    if (!std::ranges::any_of(old.outputs, [&](ValueId v) { return live[v]; })) continue;
    Node node = old;
    node.outputs.clear();
    for (ValueId& input : node.inputs) {
      if (input != kNone) input = map[input];
    }
    const std::vector<ValueId> made = result.add_typed(
        std::move(node), types_of_results(graph, old), names_of_results(graph, old));
    for (size_t i = 0; i < made.size(); ++i) map[old.outputs[i]] = made[i];
  }
  std::vector<ValueId> outputs;
  outputs.reserve(graph.outputs().size());
  for (const ValueId output : graph.outputs()) outputs.push_back(map[output]);
  result.set_outputs(std::move(outputs));
  result.set_output_names(names_of_outputs(graph));
  return result;
}

Result<Graph> rewrite_nodes(const Graph& graph, const Rule& rule) {
  Rewrite rewrite(graph);
  for (const Node& node : graph.nodes()) {
    rewrite.enter(node);
    const bool replaced = TRY(rule(rewrite, node));
    if (replaced) continue;
    TRY(rewrite.keep(node));
  }
  return std::move(rewrite).finish();
}

std::optional<WithConstant> with_constant(const Rewrite& rewrite, const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  const bool first = !rewrite.constant(node.inputs[0]).empty();
  const bool second = !rewrite.constant(node.inputs[1]).empty();
  if (first == second) return std::nullopt;
  return WithConstant{.value = node.inputs[first ? 1 : 0], .constant = node.inputs[first ? 0 : 1]};
}

ValueId operand(const Node& node, size_t k) {
  return k < node.inputs.size() ? node.inputs[k] : kNone;
}

int64_t axis_of(const Node& node, size_t rank, int64_t fallback) {
  const int64_t axis = node.attributes.integer("axis", fallback);
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

std::vector<int64_t> axes_of(const Node& node, size_t rank) {
  std::vector<int64_t> axes = node.attributes.list("axes", {});
  for (int64_t& axis : axes) {
    if (axis < 0) axis += static_cast<int64_t>(rank);
  }
  std::ranges::sort(axes);
  return axes;
}

std::vector<int64_t> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t back = shape.size() - i;  // from the end
    const int64_t x = back > a.size() ? 1 : a[a.size() - back];
    const int64_t y = back > b.size() ? 1 : b[b.size() - back];
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

bool is_map(const Node& node) {
  const OpDef* op = find_op(node.op);
  return op != nullptr && op->work == Work::Map;
}

}  // namespace tilewright::graph
