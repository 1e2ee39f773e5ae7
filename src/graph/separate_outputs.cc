#include "graph/separate_outputs.h"

#include <algorithm>
#include <set>

#include "graph/op_table.h"

namespace tilewright::graph {
namespace {

// The value whose bytes a value has: Views looked through.
ValueId source_of(const Graph& graph, ValueId value) {
  while (graph.value(value).producer != kNone) {
    const Node& node = graph.node(graph.value(value).producer);
    const OpDef* op = find_op(node.op);
    if (op == nullptr || op->work != Work::View) return value;
    value = node.inputs[0];
  }
  return value;
}

// Whether a concat of several parts reads the value, which can be in place if this is no output.
bool is_part(const Graph& graph, const std::vector<NodeId>& readers) {
  return std::ranges::any_of(readers, [&](NodeId reader) {
    const Node& node = graph.node(reader);
    return node.op == "concat" && node.inputs.size() > 1;
  });
}

}  // namespace

Result<Graph> separate_outputs(const Graph& graph) {
  Graph separate = graph;
  std::vector<std::string> names = graph.output_names();
  std::vector<ValueId> outputs;
  std::set<ValueId> taken;
  const std::vector<std::vector<NodeId>> uses = graph.uses();
  for (const ValueId output : graph.outputs()) {
    if (graph.output_names().empty()) names.push_back(graph.value(output).name);
    const ValueId source = source_of(graph, output);
    if (graph.value(source).producer != kNone && !is_part(graph, uses[source]) &&
        taken.insert(source).second) {
      outputs.push_back(output);
      continue;
    }
    const std::string element(ir::name_of(graph.value(output).type.element));
    auto copy = TRY(separate.add({.op = "cast",
                                  .attributes = {{"to", element}},
                                  .inputs = {output},
                                  .outputs = {},
                                  .origin = {}}));
    outputs.push_back(copy.front());
  }
  separate.set_outputs(std::move(outputs));
  separate.set_output_names(std::move(names));
  return separate;
}

}  // namespace tilewright::graph
