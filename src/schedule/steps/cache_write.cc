#include "schedule/steps/cache_write.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const CacheWrite& step) {
  StageIndex index = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &index)) return illegal;
  if (const Illegal illegal = editor.check_fresh(index)) return illegal;
  LoopTree& tree = editor.tree();
  if (tree.stage(index).kind != StageKind::Compute || step.stage.role != StageRole::Main) {
    return editor.reject(IllegalCode::AlreadyCached, step.stage);
  }
  if (const Illegal illegal = editor.check_room(step.stage)) return illegal;

  // The new stage gets the body, the reads and the reduce axes; the old one keeps its name and
  // buffers.
  const Stage old = tree.stage(index);
  const StageIndex write = editor.add_stage(
      {.name = {.op = old.name.op, .role = StageRole::Write}, .op = old.op}, index, true);
  tree.stage(write).first_access = old.first_access;
  tree.stage(write).accesses = old.accesses;
  tree.stage(write).instructions = old.instructions;
  for (Access& access : tree.reads_of(old)) access.stage = write;
  const te::Op& op = tree.dag->op(old.op);
  for (const VarIndex axis : old.axes) {
    const LoopVar var = tree.var(axis);
    if (var.kind == IterKind::Spatial) {
      editor.add_axis(write, var.name, IterKind::Spatial);
    } else {
      tree.var(axis).stage = write;
      tree.stage(write).axes.push_back(axis);
      tree.stage(write).loops.push_back(axis);
    }
  }
  Stage& stage = tree.stage(index);
  stage.kind = StageKind::Copy;
  stage.instructions = Stage{}.instructions;
  stage.accesses = 0;
  stage.axes = {};
  for (const VarIndex axis : old.dims) stage.axes.push_back(axis);
  stage.loops = {};
  for (const VarIndex axis : old.dims) stage.loops.push_back(axis);

  for (uint8_t k = 0; k < old.buffers; ++k) {
    const Buffer out = tree.buffer(static_cast<BufferIndex>(old.first_buffer + k));
    const ir::Scalar element = op.reduction ? op.reduction->identity[k].type().scalar : out.element;
    const BufferIndex buffer = editor.add_buffer({.stage = write,
                                                  .output = k,
                                                  .rank = out.rank,
                                                  .element = element,
                                                  .tensor = out.tensor,
                                                  .scope = step.scope});
    if (k == 0) tree.stage(write).first_buffer = buffer;
    editor.add_identity_access(index, buffer);
  }
  tree.stage(write).buffers = old.buffers;
  return {};
}

}  // namespace tilewright::schedule
