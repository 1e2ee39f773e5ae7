// How deep a loop of a LoopTree is.
#pragma once

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

// How many loops stand around a loop, those of the stages it is attached under included.
inline int nesting_depth(const LoopTree& tree, const LoopVar& loop) {
  int depth = loop.position;
  for (const Stage* stage = &tree.stage(loop.stage); stage->place == Attachment::At;) {
    depth += tree.var(stage->at_loop).position + 1;
    stage = &tree.stage(stage->at_stage);
  }
  return depth;
}

}  // namespace tilewright::schedule
