#include "schedule/steps/annotate.h"

namespace tilewright::schedule {
namespace {

// A reduction reads its stores back, again and again.
Illegal mark_streams(TreeEditor& editor, StageIndex index) {
  Stage& stage = editor.tree().stage(index);
  if (stage.kind != StageKind::Copy && editor.tree().dag->op(stage.op).has_reduction()) {
    return editor.reject(IllegalCode::StageHasReduction, stage.name);
  }
  stage.streams = true;
  return {};
}

}  // namespace

Illegal apply_step(TreeEditor& editor, const Annotate& step) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  if (step.how == Annotation::Stream) return mark_streams(editor, stage);
  LoopVar& var = editor.tree().var(loop);
  if (step.how == Annotation::Parallel && var.kind == IterKind::Reduce) {
    return editor.reject(IllegalCode::ParallelReduce, step.stage, step.loop);
  }
  if (var.annotation != Annotation::None || var.bound != ThreadAxis::None) {
    return editor.reject(IllegalCode::LoopIsAnnotated, step.stage, step.loop);
  }
  var.annotation = step.how;
  return {};
}

}  // namespace tilewright::schedule
