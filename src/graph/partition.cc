#include "graph/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/group_dag.h"
#include "graph/in_place.h"
#include "graph/title.h"
#include "graph/view.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

constexpr int64_t kAlignment = 64;  // of operands, in bytes

// Adds the views outside of groups.
void add_views(const Graph& graph, std::span<const NodeFacts> facts,
               std::span<const FusedGroup> groups, std::vector<Alias>& aliases) {
  std::vector<bool> grouped(graph.nodes().size());
  for (const FusedGroup& group : groups) {
    for (const NodeId id : group.nodes) grouped[id] = true;
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (!facts[id].live || grouped[id]) continue;
    const Node& node = graph.node(id);
    const auto offset = view_offset(graph, node);
    if (offset)
      aliases.push_back({.value = node.outputs[0], .of = node.inputs[0], .offset = *offset});
  }
}

// Fails unless each output is a separate value, written by a kernel.
Status check_outputs(const Graph& graph, const std::vector<Alias>& aliases) {
  std::map<ValueId, ValueId> of;
  for (const Alias& alias : aliases) of[alias.value] = alias.of;
  std::set<ValueId> taken;
  for (const ValueId output : graph.outputs()) {
    ValueId source = output;
    while (of.contains(source)) source = of[source];
    if (graph.value(source).producer == kNone || !taken.insert(source).second) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("output '{}' has the bytes of an input, a constant or another "
                              "output; call separate_outputs before partition",
                              graph.value(output).name));
    }
  }
  return {};
}

// Aliases by value.
class Aliases {
 public:
  Aliases(const Graph& graph, const std::vector<Alias>& aliases) : graph_(graph) {
    for (const Alias& alias : aliases) by_value_[alias.value] = &alias;
    for (const Alias& alias : aliases) {
      const auto [root, offset] = root_of(alias.value);
      int64_t& alignment =
          alignments_.try_emplace(kind_of(alias.value, root), kAlignment).first->second;
      if (offset != 0) alignment = std::min(alignment, offset & -offset);
    }
  }

  const Alias* find(ValueId value) const {
    const auto at = by_value_.find(value);
    return at == by_value_.end() ? nullptr : at->second;
  }

  // Of the first element of an alias: the least of all parts of one shape, so that kernels which
  // differ only in the part that they read or write are equal.
  int64_t alignment_of(ValueId value) const {
    return alignments_.at(kind_of(value, root_of(value).first));
  }

 private:
  using Kind = std::pair<ValueId, std::vector<int64_t>>;
  Kind kind_of(ValueId value, ValueId root) const { return {root, graph_.value(value).type.shape}; }

  std::pair<ValueId, int64_t> root_of(ValueId value) const {
    int64_t offset = 0;
    for (const Alias* alias = find(value); alias != nullptr; alias = find(value)) {
      offset += alias->offset;
      value = alias->of;
    }
    return {value, offset};
  }

  const Graph& graph_;
  std::map<ValueId, const Alias*> by_value_;
  std::map<Kind, int64_t> alignments_;
};

// The operands of a group that are within larger arrays, or not 64-byte aligned.
std::vector<OperandPart> parts_of(const Graph& graph, const GroupDag& built,
                                  const Aliases& aliases) {
  std::vector<te::TensorId> tensors = built.dag->inputs();
  tensors.insert(tensors.end(), built.dag->outputs().begin(), built.dag->outputs().end());
  std::vector<OperandPart> parts;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Alias* alias = aliases.find(built.arguments[k]);
    if (alias == nullptr) continue;
    const int64_t alignment = aliases.alignment_of(alias->value);
    if (alias->within.empty() && alignment >= kAlignment) continue;
    parts.push_back(
        {.tensor = built.dag->tensor(tensors[k]).name.text(),
         .extents = alias->within.empty() ? graph.value(alias->value).type.shape : alias->within,
         .alignment = static_cast<int>(alignment)});
  }
  return parts;
}

// The permissions of the options, with `winograd` only for kernels of that algorithm, so that other
// kernels have the same keys in models that allow it.
FloatPermissions permissions_of(std::span<const NodeFacts> facts, const FusedGroup& fused,
                                const PartitionOptions& options) {
  FloatPermissions permissions = options.permissions;
  permissions.winograd =
      std::ranges::any_of(fused.nodes, [&](NodeId id) { return facts[id].op->winograd; });
  return permissions;
}

Group make_group(const Graph& graph, std::span<const NodeFacts> facts, const FusedGroup& fused,
                 const PartitionOptions& options, const Aliases& aliases) {
  GroupDag built = build_group_dag(graph, facts, fused);
  if (!options.pack_weights) built.constants.clear();
  const std::vector<OperandPart> parts = parts_of(graph, built, aliases);
  return {.nodes = fused.nodes,
          .workload = dag_workload(built.dag, built.constants,
                                   permissions_of(facts, fused, options), parts),
          .arguments = std::move(built.arguments),
          .title = title_of(graph, fused, built.order)};
}

void find_kernels(Partition& partition) {
  std::map<Hash128, size_t> known;
  for (size_t k = 0; k < partition.groups.size(); ++k) {
    const Hash128 key = partition.groups[k].workload.key();
    const auto [place, added] = known.emplace(key, partition.kernels.size());
    if (added) partition.kernels.push_back({.key = key, .groups = {}});
    partition.kernels[place->second].groups.push_back(k);
  }
}

}  // namespace

Result<Partition> partition(const Graph& graph, const PartitionOptions& options) {
  const auto facts = TRY(facts_of(graph));
  const FusionPays pays = options.pays ? options.pays : fusion_pays_by_default;
  std::vector<FusedGroup> fused = options.fuse ? fuse(graph, facts, pays) : no_fusion(graph, facts);
  Partition result;
  if (options.fuse && options.concat_in_place)
    result.aliases = concat_in_place(graph, facts, fused);
  add_views(graph, facts, fused, result.aliases);
  TRY(check_outputs(graph, result.aliases));
  const Aliases aliases(graph, result.aliases);
  result.groups.reserve(fused.size());
  for (const FusedGroup& group : fused) {
    result.groups.push_back(make_group(graph, facts, group, options, aliases));
  }
  find_kernels(result);
  return result;
}

}  // namespace tilewright::graph
