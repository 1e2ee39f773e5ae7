// nesting_depth: the depth of a loop in a LoopTree.
#pragma once

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

// The number of loops around a loop, including those of the stages it is attached under.
inline int nesting_depth(const LoopTree& tree, const LoopVar& loop) {
  int depth = loop.position;
  for (const Stage* stage = &tree.stage(loop.stage); stage->place == Attachment::At;) {
    depth += tree.var(stage->at_loop).position + 1;
    stage = &tree.stage(stage->at_stage);
  }
  return depth;
}

}  // namespace tilewright::schedule
