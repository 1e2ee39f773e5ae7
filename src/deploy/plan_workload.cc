#include "deploy/plan_workload.h"

#include "base/check.h"
#include "graph/op_table.h"

namespace tilewright::deploy {

ModelPlan plan_workload(const Workload& workload, std::span<const graph::Constant> constants) {
  ModelPlan plan;
  // Without nodes: the group holds the computation. The Graph has one placeholder node, so that
  // outputs have a producer.
  graph::Group group{.nodes = {}, .workload = workload, .arguments = {}, .title = workload.text};
  graph::Node node{.op = "max", .attributes = {}, .inputs = {}, .outputs = {}, .origin = {}};
  std::vector<graph::TensorType> types;
  std::vector<std::string> names;
  std::vector<graph::ArenaSlot> places;
  size_t constant = 0;
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    const std::string name(tensor.name.text());
    graph::TensorType type = graph::tensor_type(tensor);
    if (operand.role == Role::Output) {
      types.push_back(std::move(type));
      names.push_back(name);
      continue;
    }
    if (operand.role == Role::Constant) {
      CHECK(constant < constants.size() && constants[constant].type() == type,
            "constant {} is not {}", name, type.to_string());
      node.inputs.push_back(plan.graph.add_constant(name, constants[constant]));
      plan.memory.constants.push_back(node.inputs.back());
      places.push_back({graph::Home::Constant, static_cast<int64_t>(constant++), 0});
    } else {
      places.push_back({graph::Home::Input, static_cast<int64_t>(plan.graph.inputs().size()), 0});
      node.inputs.push_back(plan.graph.add_input(name, std::move(type)));
    }
  }
  group.arguments = node.inputs;
  const std::vector<graph::ValueId> outputs = plan.graph.add_typed(std::move(node), types, names);
  group.arguments.insert(group.arguments.end(), outputs.begin(), outputs.end());
  plan.graph.set_outputs(outputs);
  plan.graph.set_output_names(names);

  plan.memory.places.resize(plan.graph.value_count());
  for (size_t k = 0; k < group.arguments.size(); ++k) {
    plan.memory.places[group.arguments[k]] =
        k < places.size()
            ? places[k]
            : graph::ArenaSlot{graph::Home::Output, static_cast<int64_t>(k - places.size()), 0};
  }
  plan.partition.kernels.push_back({.key = workload.key(), .groups = {0}});
  plan.partition.groups.push_back(std::move(group));
  return plan;
}

}  // namespace tilewright::deploy
