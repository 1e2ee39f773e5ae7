#include "schedule/steps/pack.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Pack& step) {
  StageIndex stage = kNone;
  StageIndex reader = kNone;
  if (const Illegal illegal = editor.find_stage(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_scheduled(step.reader, &reader)) return illegal;
  LoopTree& tree = editor.tree();
  if (tree.stage(stage).place == Attachment::Inlined) {
    return editor.reject(IllegalCode::StageIsInlined, step.stage);
  }
  if (tree.stage(stage).buffers > 1) return editor.reject(IllegalCode::MultipleOutputs, step.stage);
  Buffer& buffer = tree.buffer(tree.stage(stage).first_buffer);
  if (buffer.is_argument && !buffer.is_constant) {
    const bool input = tree.stage(stage).kind == StageKind::Input;
    return editor.reject(input ? IllegalCode::PackInput : IllegalCode::PackOutput, step.stage);
  }
  if (buffer.packed_for != kNone) return editor.reject(IllegalCode::AlreadyPacked, step.stage);
  if (Illegal illegal = check_packable(tree, tree.stage(stage).first_buffer, reader)) {
    illegal.step = editor.step();
    return illegal;
  }
  buffer.packed_for = reader;
  buffer.pack_step = editor.step();
  return {};
}

}  // namespace tilewright::schedule
