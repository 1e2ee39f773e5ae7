#include "graph/in_place.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/view.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

class Placer {
 public:
  Placer(const Graph& graph, std::span<const NodeFacts> facts,
         const std::vector<FusedGroup>& groups)
      : graph_(graph), facts_(facts), uses_(graph.uses()), grouped_(graph.nodes().size()) {
    for (const FusedGroup& group : groups) {
      for (const NodeId id : group.nodes) grouped_[id] = true;
      const Node& last = graph.node(group.nodes.back());
      if (last.op == "concat" && group.nodes.size() == 1) concats_.push_back(group.nodes.back());
      computed_.insert(last.outputs.begin(), last.outputs.end());
    }
    std::ranges::sort(concats_, {}, [&](NodeId id) {
      return std::pair(-graph.value(graph.node(id).outputs[0]).type.bytes(), id);
    });
  }

  std::vector<Alias> run() {
    for (const NodeId id : concats_) {
      if (lies_already(graph_.node(id)) || place_parts(graph_.node(id))) gone_.insert(id);
    }
    std::vector<Alias> aliases;
    aliases.reserve(places_.size());
    for (const auto& [value, alias] : places_) aliases.push_back(alias);
    return aliases;
  }
  bool is_gone(NodeId id) const { return gone_.contains(id); }

 private:
  const Shape& shape_of(ValueId value) const { return graph_.value(value).type.shape; }

  // Whether it may be part of a value of `extents`: a kernel computes it, its location is not fixed
  // yet, and it has no views, or is contiguous there.
  bool may_lie(ValueId value, const Shape& extents) const {
    const bool viewed = std::ranges::any_of(
        uses_[value], [&](NodeId reader) { return facts_[reader].live && !grouped_[reader]; });
    if (viewed && !is_contiguous(shape_of(value), extents)) return false;
    return !reaches_output(graph_, uses_, value) && computed_.contains(value) &&
           !places_.contains(value);
  }

  size_t axis_of(const Node& concat) const {
    const auto rank = std::ssize(shape_of(concat.outputs[0]));
    const int64_t axis = concat.attributes.integer("axis");
    return static_cast<size_t>(axis < 0 ? axis + rank : axis);
  }

  void place(ValueId value, ValueId of, int64_t offset, const Shape& extents) {
    Alias alias{.value = value, .of = of, .offset = offset};
    if (!is_contiguous(shape_of(value), extents)) alias.within = extents;
    places_[value] = std::move(alias);
    extents_[value] = extents;
  }

  // The bytes of a part along the axis, up to the next part.
  int64_t step_over(ValueId part, size_t axis, const Shape& extents) const {
    return shape_of(part)[axis] * row_major_stride(extents, axis) *
           ir::bytes_of(graph_.value(part).type.element);
  }

  // Whether all parts are already adjacent in some value.
  bool lies_already(const Node& concat) {
    const ValueId result = concat.outputs[0];
    const auto first = places_.find(concat.inputs[0]);
    if (first == places_.end()) return false;
    const Shape extents = extents_.at(concat.inputs[0]);
    if (!may_lie(result, extents)) return false;
    const size_t axis = axis_of(concat);
    int64_t next = first->second.offset;
    for (const ValueId part : concat.inputs) {
      const auto at = places_.find(part);
      if (at == places_.end() || at->second.of != first->second.of || at->second.offset != next ||
          extents_.at(part) != extents) {
        return false;
      }
      next += step_over(part, axis, extents);
    }
    place(result, first->second.of, first->second.offset, extents);
    return true;
  }

  bool place_parts(const Node& concat) {
    const std::set<ValueId> distinct(concat.inputs.begin(), concat.inputs.end());
    if (distinct.size() != concat.inputs.size()) return false;
    const ValueId result = concat.outputs[0];
    const auto outer = places_.find(result);
    const ValueId of = outer == places_.end() ? result : outer->second.of;
    int64_t offset = outer == places_.end() ? 0 : outer->second.offset;
    const Shape extents = outer == places_.end() ? shape_of(result) : extents_.at(result);
    for (const ValueId part : concat.inputs) {
      if (!may_lie(part, extents)) return false;
    }
    const size_t axis = axis_of(concat);
    for (const ValueId part : concat.inputs) {
      place(part, of, offset, extents);
      offset += step_over(part, axis, extents);
    }
    return true;
  }

  const Graph& graph_;
  std::span<const NodeFacts> facts_;
  std::vector<std::vector<NodeId>> uses_;
  std::vector<bool> grouped_;  // by node; the others are views
  std::vector<NodeId> concats_;
  std::set<ValueId> computed_;        // values that kernels write
  std::map<ValueId, Alias> places_;   // of parts
  std::map<ValueId, Shape> extents_;  // of the arrays that contain them
  std::set<NodeId> gone_;
};

}  // namespace

std::vector<Alias> concat_in_place(const Graph& graph, std::span<const NodeFacts> facts,
                                   std::vector<FusedGroup>& groups) {
  Placer placer(graph, facts, groups);
  std::vector<Alias> aliases = placer.run();
  std::erase_if(groups, [&](const FusedGroup& group) { return placer.is_gone(group.nodes[0]); });
  return aliases;
}

}  // namespace tilewright::graph
