#include "schedule/steps/bind.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Bind& step) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  LoopVar& var = editor.tree().var(loop);
  if (var.kind == IterKind::Reduce) {
    return editor.reject(IllegalCode::ParallelReduce, step.stage, step.loop);
  }
  if (var.annotation != Annotation::None || var.bound != ThreadAxis::None) {
    return editor.reject(IllegalCode::LoopIsAnnotated, step.stage, step.loop);
  }
  var.bound = step.axis;
  return {};
}

}  // namespace tilewright::schedule
