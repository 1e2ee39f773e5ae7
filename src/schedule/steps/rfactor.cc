#include "schedule/steps/rfactor.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Rfactor& step) {
  StageIndex index = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &index)) return illegal;
  if (const Illegal illegal = editor.find_loop(index, step.loop, &loop)) return illegal;
  if (const Illegal illegal = editor.check_unused(index, loop)) return illegal;
  LoopTree& tree = editor.tree();
  const Stage old = tree.stage(index);
  if (old.kind != StageKind::Compute || !tree.dag->op(old.op).has_reduction()) {
    return editor.reject(IllegalCode::StageHasNoReduction, step.stage);
  }
  if (tree.var(loop).kind != IterKind::Reduce) {
    return editor.reject(IllegalCode::LoopIsSpatial, step.stage, step.loop);
  }
  if (old.dims.full()) return editor.reject(IllegalCode::RankTooHigh, step.stage, {}, kMaxRank);
  // Its loops are divided between two stages, so nothing may be attached to them; the spatial loops
  // must be plain axes, because both stages have them.
  for (const Stage& other : tree.stages) {
    if (other.place == Attachment::At && other.at_stage == index) {
      return editor.reject(IllegalCode::LoopIsAttachPoint, step.stage,
                           tree.var(other.at_loop).name);
    }
  }
  for (const VarIndex axis : old.dims) {
    if (!tree.var(axis).is_loop()) return editor.reject(IllegalCode::StageHasSteps, step.stage);
    if (const Illegal illegal = editor.check_unused(index, axis)) return illegal;
  }
  if (const Illegal illegal = editor.check_room(step.stage)) return illegal;

  // The new stage gets the body, the reads and all reduce variables; the factored variable becomes
  // a dimension of its buffers.
  const StageIndex partial =
      editor.add_stage({.name = {.op = old.name.op, .role = StageRole::Rfactor},
                        .op = old.op,
                        .kind = StageKind::Partial},
                       index, true);
  tree.stage(partial).first_access = old.first_access;
  tree.stage(partial).accesses = old.accesses;
  tree.stage(partial).instructions = old.instructions;
  for (Access& access : tree.reads_of(old)) access.stage = partial;
  for (const VarIndex axis : old.dims) {
    editor.add_axis(partial, tree.var(axis).name, IterKind::Spatial);
  }
  for (LoopVar& var : tree.vars) {
    if (var.stage == index && var.kind == IterKind::Reduce) var.stage = partial;
  }
  Stage& p = tree.stage(partial);
  for (const VarIndex axis : old.axes) {
    if (tree.var(axis).stage == partial) p.axes.push_back(axis);
  }
  tree.var(loop).kind = IterKind::Spatial;
  for (VarIndex var = tree.var(loop).parent; var != kNone; var = tree.var(var).parent) {
    tree.var(var).unordered = tail_of(tree.var(var)) == Tail::Pad;
  }
  p.dims.push_back(loop);
  p.loops.push_back(loop);
  for (const VarIndex other : old.loops) {
    if (other != loop && tree.var(other).stage == partial) p.loops.push_back(other);
  }

  const Name folded = tree.var(loop).name;
  Stage& stage = tree.stage(index);
  stage.kind = StageKind::Combine;
  stage.accesses = 0;
  stage.axes = {};
  stage.loops = {};
  for (const VarIndex axis : old.dims) {
    stage.axes.push_back(axis);
    stage.loops.push_back(axis);
  }
  editor.add_axis(index, folded, IterKind::Reduce);

  const te::Op& op = tree.dag->op(old.op);
  for (uint8_t k = 0; k < old.buffers; ++k) {
    const Buffer out = tree.buffer(static_cast<BufferIndex>(old.first_buffer + k));
    const BufferIndex buffer =
        editor.add_buffer({.stage = partial,
                           .output = k,
                           .rank = static_cast<uint8_t>(out.rank + 1),
                           .element = op.reduction->identity[k].type().scalar,
                           .tensor = out.tensor});
    if (k == 0) tree.stage(partial).first_buffer = buffer;
    editor.add_identity_access(index, buffer);
  }
  tree.stage(partial).buffers = old.buffers;
  return {};
}

}  // namespace tilewright::schedule
