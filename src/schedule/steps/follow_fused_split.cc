#include "schedule/steps/follow_fused_split.h"

#include "schedule/steps/split.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const FollowFusedSplit& step) {
  if (step.source_loops.empty()) {
    return editor.reject(IllegalCode::NoSuchSplit, step.source);
  }
  for (const Name& loop : step.source_loops) {
    int parts = 0;
    if (const Illegal illegal = editor.find_split(step.source, loop, &parts)) return illegal;
    if (step.level < 0 || step.level + 1 >= parts) {
      return editor.reject(IllegalCode::BadLevel, step.source, loop, step.level, parts - 2);
    }
  }
  return split_loop(editor, step.stage, step.loop, 2, step.tail);
}

}  // namespace tilewright::schedule
