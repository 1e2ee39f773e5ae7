#include "schedule/steps/compute_root.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const ComputeRoot& step) {
  StageIndex stage = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  Stage& placed = editor.tree().stage(stage);
  placed.place = Attachment::Root;
  placed.at_stage = kNone;
  placed.at_loop = kNone;
  placed.place_step = editor.step();
  return {};
}

}  // namespace tilewright::schedule
