#include "graph/group_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "te/compose.h"
#include "te/dag_builder.h"

namespace tilewright::graph {
namespace {

// The value of a constant operand that is inlined; nothing if it stays an operand. Scales of
// quantization differ between nodes: as operands they do not make kernels differ.
ir::Expr number_of(const Graph& graph, const NodeFacts& facts, ValueId value) {
  const Constant& constant = graph.value(value).constant;
  const bool quantizes =
      facts.op->name == "quantize_linear" || facts.op->name == "dequantize_linear";
  if (constant.empty() || constant.type().elements() != 1 || quantizes) return {};
  if (facts.op->work != Work::Map && facts.op->work != Work::Move) return {};
  const ir::Scalar element = constant.type().element;
  if (ir::is_integer(element)) return ir::int_imm(constant.integer(0), {element, 1});
  if (element == ir::Scalar::F32 || element == ir::Scalar::F64) {
    return ir::float_imm(constant.number(0), {element, 1});
  }
  return {};
}

class GroupBuilder {
 public:
  GroupBuilder(const Graph& graph, std::span<const NodeFacts> facts, const FusedGroup& group)
      : graph_(graph), facts_(facts), group_(group) {}

  GroupDag run() {
    walk(group_.nodes.back());
    CHECK(made_.order.size() == group_.nodes.size(), "{} of {} nodes lead to the last",
          made_.order.size(), group_.nodes.size());
    for (size_t k = 0; k < made_.order.size(); ++k) add_node(k);
    const Node& last = graph_.node(group_.nodes.back());
    made_.dag = std::move(builder_).build();
    CHECK(made_.dag->outputs().size() == last.outputs.size(), "{} results for {} values",
          made_.dag->outputs().size(), last.outputs.size());
    made_.arguments.insert(made_.arguments.end(), last.outputs.begin(), last.outputs.end());
    return std::move(made_);
  }

 private:
  bool has(NodeId id) const { return std::ranges::binary_search(group_.nodes, id); }

  void walk(NodeId id) {  // groups are small
    if (std::ranges::find(made_.order, id) != made_.order.end()) return;
    for (const ValueId input : graph_.node(id).inputs) {
      if (input == kNone || graph_.value(input).producer == kNone) continue;
      if (has(graph_.value(input).producer)) walk(graph_.value(input).producer);
    }
    made_.order.push_back(id);
  }

  void add_node(size_t k) {
    const NodeId id = made_.order[k];
    const Node& node = graph_.node(id);
    const te::Dag& dag = *facts_[id].dag;
    const std::string prefix = group_.nodes.size() == 1 ? "" : fmt::format("n{}_", k);
    std::vector<te::TensorId> inputs;
    std::vector<ir::Expr> numbers;
    for (const ValueId input : node.inputs) {
      if (input == kNone) continue;
      const te::Tensor& wanted = dag.tensor(dag.inputs()[inputs.size()]);
      numbers.push_back(number_of(graph_, facts_[id], input));
      inputs.push_back(numbers.back().defined()
                           ? 0
                           : tensor_of(input, fmt::format("{}{}", prefix, wanted.name.text())));
    }
    const auto outputs = te::append(builder_, dag, inputs, prefix, numbers);
    for (size_t j = 0; j < outputs.size(); ++j) tensors_[node.outputs[j]] = outputs[j];
  }

  // The tensor of a value from an earlier node of the group, or from outside.
  te::TensorId tensor_of(ValueId id, const std::string& name) {
    const auto known = tensors_.find(id);
    if (known != tensors_.end()) return known->second;
    const Value& value = graph_.value(id);
    const std::vector<te::Extent> shape(value.type.shape.begin(), value.type.shape.end());
    const te::TensorId made = builder_.placeholder(name, shape, value.type.element);
    tensors_[id] = made;
    made_.arguments.push_back(id);
    if (value.is_constant()) made_.constants.push_back(name);
    return made;
  }

  const Graph& graph_;
  std::span<const NodeFacts> facts_;
  const FusedGroup& group_;
  te::DagBuilder builder_;
  std::map<ValueId, te::TensorId> tensors_;
  GroupDag made_;
};

}  // namespace

GroupDag build_group_dag(const Graph& graph, std::span<const NodeFacts> facts,
                         const FusedGroup& group) {
  return GroupBuilder(graph, facts, group).run();
}

}  // namespace tilewright::graph
