#include "schedule/steps/compute_inline.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const ComputeInline& step) {
  StageIndex index = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &index)) return illegal;
  LoopTree& tree = editor.tree();
  const Stage& stage = tree.stage(index);
  const bool reduces = tree.dag->op(stage.op).has_reduction() && stage.kind != StageKind::Copy;
  if (reduces) return editor.reject(IllegalCode::StageHasReduction, step.stage);
  if (tree.is_output(index)) return editor.reject(IllegalCode::StageIsOutput, step.stage);
  if (stage.buffers > 1) return editor.reject(IllegalCode::MultipleOutputs, step.stage);
  for (const VarIndex loop : stage.loops) {
    if (const Illegal illegal = editor.check_unused(index, loop)) return illegal;
  }
  for (size_t reader = 0; reader < tree.stages.size(); ++reader) {
    const Stage& other = tree.stages[reader];
    bool reads = false;
    for (const Access& access : tree.reads_of(other)) {
      reads |= tree.buffer(access.buffer).stage == index;
    }
    if (!reads) continue;
    const auto at = static_cast<StageIndex>(reader);
    if (const Illegal illegal = editor.compose_accesses(at, index)) return illegal;
  }
  Stage& inlined = tree.stage(index);
  inlined.place = Attachment::Inlined;
  inlined.place_step = editor.step();
  inlined.at_stage = kNone;
  inlined.at_loop = kNone;
  return {};
}

}  // namespace tilewright::schedule
