#include "app/graph_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace tilewright::app {
namespace {

// The boxes that write the bytes of a value: its own, those of its parts if it is a concat written
// in place, and those of the whole if it is a view.
class StorageMap {
 public:
  explicit StorageMap(const deploy::ModelPlan& plan)
      : parent_(plan.graph.value_count()), writers_(plan.graph.value_count()) {
    std::iota(parent_.begin(), parent_.end(), graph::ValueId{0});
    for (const graph::Alias& alias : plan.partition.aliases) parent_[alias.value] = alias.of;
  }

  void write(graph::ValueId value, size_t box) {
    writers_[value].push_back(box);
    if (parent_[value] != value) write(parent_[value], box);
  }
  const std::vector<size_t>& writers(graph::ValueId value) const {
    const bool is_view = writers_[value].empty() && parent_[value] != value;
    return is_view ? writers(parent_[value]) : writers_[value];
  }

 private:
  std::vector<graph::ValueId> parent_;  // the value whose bytes contain it, or itself
  std::vector<std::vector<size_t>> writers_;
};

std::string node_text(const graph::Node& node) {
  std::string text = node.op;
  if (!node.origin.empty()) text += fmt::format(" ({})", fmt::join(node.origin, ", "));
  return text;
}

GraphBox box_of(const graph::Graph& graph, const graph::Group& group) {
  GraphBox box;
  box.title = group.title;
  box.nodes.reserve(group.nodes.size());
  for (const graph::NodeId node : group.nodes) box.nodes.push_back(node_text(graph.node(node)));
  for (size_t k = 0; k < group.arguments.size(); ++k) {
    if (group.workload.operands[k].role != Role::Output) continue;
    box.detail += (box.detail.empty() ? "" : ", ");
    box.detail += graph.value(group.arguments[k]).type.to_string();
  }
  return box;
}

void read(GraphBox& box, const std::vector<size_t>& writers) {
  box.from.insert(box.from.end(), writers.begin(), writers.end());
}

void tidy(GraphBox& box) {
  std::ranges::sort(box.from);
  const auto repeated = std::ranges::unique(box.from);
  box.from.erase(repeated.begin(), repeated.end());
}

void add_groups(const deploy::ModelPlan& plan, StorageMap& storage, GraphView& view) {
  for (const graph::Group& group : plan.partition.groups) {
    GraphBox box = box_of(plan.graph, group);
    const size_t self = view.boxes.size();
    for (size_t k = 0; k < group.arguments.size(); ++k) {
      const bool output = group.workload.operands[k].role == Role::Output;
      if (!output) read(box, storage.writers(group.arguments[k]));
    }
    for (size_t k = 0; k < group.arguments.size(); ++k) {
      const bool output = group.workload.operands[k].role == Role::Output;
      if (output) storage.write(group.arguments[k], self);
    }
    tidy(box);
    view.boxes.push_back(std::move(box));
  }
}

}  // namespace

double GraphView::sum_ns() const {
  double sum = 0;
  for (const GraphBox& box : boxes) sum += box.ns;
  return sum;
}

GraphView view_of(const deploy::ModelPlan& plan, std::span<const deploy::Choice> choices,
                  const Target& target, const std::string& name) {
  GraphView view{.name = name, .boxes = {}};
  const graph::Graph& graph = plan.graph;
  StorageMap storage(plan);
  for (const graph::ValueId input : graph.inputs()) {
    storage.write(input, view.boxes.size());
    const graph::Value& value = graph.value(input);
    view.boxes.push_back({.title = value.name, .detail = value.type.to_string()});
  }
  const size_t first = view.boxes.size();
  add_groups(plan, storage, view);
  for (size_t k = 0; k < plan.partition.kernels.size(); ++k) {
    for (const size_t group : plan.partition.kernels[k].groups) {
      GraphBox& box = view.boxes[first + group];
      box.ns = choices[k].record ? choices[k].record->verdict.latency_ns : 0;
      box.task = Task{.workload = plan.partition.groups[group].workload, .target = target}.key();
    }
  }
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const graph::Value& value = graph.value(graph.outputs()[k]);
    const bool named = k < graph.output_names().size();
    GraphBox box{.title = named ? graph.output_names()[k] : value.name,
                 .detail = value.type.to_string()};
    read(box, storage.writers(graph.outputs()[k]));
    tidy(box);
    view.boxes.push_back(std::move(box));
  }
  view.nodes = graph.nodes().size();
  view.steps = plan.partition.groups.size();
  view.kernels = plan.partition.kernels.size();
  return view;
}

Result<GraphView> view_model(const ModelOptions& options, const StopToken& stop) {
  const Target target = TRY(compiled_target_of(options.target, options.tables));
  const auto [plan, choices] =
      TRY(choose_model(options.model, target, options.records, options.tables, stop));
  return view_of(plan, choices, target, std::filesystem::path(options.model.what).filename());
}

}  // namespace tilewright::app
