#include "schedule/steps/compute_at.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const ComputeAt& step) {
  StageIndex stage = kNone;
  StageIndex target = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_scheduled(step.target, &target)) return illegal;
  if (const Illegal illegal = editor.find_loop(target, step.loop, &loop)) return illegal;
  LoopTree& tree = editor.tree();
  if (tree.is_output(stage)) {
    return editor.reject(IllegalCode::StageIsOutput, step.stage, step.loop);
  }
  // Attaching a stage to itself, or to a stage attached under it, has no meaning.
  for (StageIndex around = target; around != kNone;) {
    if (around == stage) return editor.reject(IllegalCode::TargetIsSelf, step.stage, step.loop);
    const Stage& s = tree.stage(around);
    around = s.place == Attachment::At ? s.at_stage : kNone;
  }
  Stage& placed = tree.stage(stage);
  placed.place = Attachment::At;
  placed.at_stage = target;
  placed.at_loop = loop;
  placed.place_step = editor.step();
  return {};
}

}  // namespace tilewright::schedule
