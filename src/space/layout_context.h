// LayoutContext: the input of the layouts of stages: the task and its options, the tree after
// inlining the stages that the draft inlines, and the writer of the draft. It owns nothing. Not
// thread-safe.
//
// A layout gives the loops of a stage their steps: splits, order, annotations. Choices are holes.
#pragma once

#include <algorithm>
#include <string>

#include "heuristic/axis_roles.h"
#include "space/draft.h"
#include "space/draft_writer.h"

namespace tilewright::space {

struct LayoutContext {
  const SpaceContext& space;
  const schedule::LoopTree& tree;
  DraftWriter& writer;

  bool has(const std::string& extension) const { return space.has(extension); }
  const Target& target() const { return space.target(); }
  const te::Op& op(te::OpId id) const { return space.dag().op(id); }

  // The tree has one stage per operator, in the same order.
  static schedule::StageIndex index_of(te::OpId id) {
    return static_cast<schedule::StageIndex>(id);
  }

  heuristic::AxisRoles roles_of(te::OpId id, bool may_pack) const {
    return heuristic::axis_roles(tree, index_of(id), target(), may_pack);
  }
  int64_t lanes_of(int element_bytes) const { return std::max(1, target().lanes(element_bytes)); }
};

}  // namespace tilewright::space
