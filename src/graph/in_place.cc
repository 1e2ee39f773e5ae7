#include "graph/in_place.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

// The stride of a dimension in elements, in a row-major array.
int64_t stride_of(const Shape& extents, size_t dim) {
  int64_t stride = 1;
  for (size_t d = dim + 1; d < extents.size(); ++d) stride *= extents[d];
  return stride;
}

// Whether the elements of `shape` within `extents` are contiguous.
bool lies_together(const Shape& shape, const Shape& extents) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && stride_of(shape, d) != stride_of(extents, d)) return false;
  }
  return true;
}

class Placer {
 public:
  Placer(const Graph& graph, std::span<const NodeFacts> facts,
         const std::vector<FusedGroup>& groups)
      : graph_(graph), facts_(facts), uses_(graph.uses()) {
    for (const FusedGroup& group : groups) {
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

  // Whether it may be part of a larger value: a kernel computes it, its location is not fixed yet,
  // and it has no Views.
  bool may_lie(ValueId value) const {
    const bool viewed = std::ranges::any_of(uses_[value], [&](NodeId reader) {
      return facts_[reader].live && facts_[reader].op->work == Work::View;
    });
    const bool output = std::ranges::find(graph_.outputs(), value) != graph_.outputs().end();
    return !viewed && !output && computed_.contains(value) && !places_.contains(value);
  }

  size_t axis_of(const Node& concat) const {
    const auto rank = std::ssize(shape_of(concat.outputs[0]));
    const int64_t axis = concat.attributes.integer("axis");
    return static_cast<size_t>(axis < 0 ? axis + rank : axis);
  }

  void place(ValueId value, ValueId of, int64_t offset, const Shape& extents) {
    Alias alias{.value = value, .of = of, .offset = offset};
    if (!lies_together(shape_of(value), extents)) alias.within = extents;
    places_[value] = std::move(alias);
    extents_[value] = extents;
  }

  // The bytes of a part along the axis, up to the next part.
  int64_t step_over(ValueId part, size_t axis, const Shape& extents) const {
    return shape_of(part)[axis] * stride_of(extents, axis) *
           ir::bytes_of(graph_.value(part).type.element);
  }

  // Whether all parts are already adjacent in some value.
  bool lies_already(const Node& concat) {
    const ValueId result = concat.outputs[0];
    const auto first = places_.find(concat.inputs[0]);
    if (first == places_.end() || !may_lie(result)) return false;
    const Shape extents = extents_.at(concat.inputs[0]);
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
    for (const ValueId part : concat.inputs) {
      if (!may_lie(part)) return false;
    }
    const ValueId result = concat.outputs[0];
    const auto outer = places_.find(result);
    const ValueId of = outer == places_.end() ? result : outer->second.of;
    int64_t offset = outer == places_.end() ? 0 : outer->second.offset;
    const Shape extents = outer == places_.end() ? shape_of(result) : extents_.at(result);
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
