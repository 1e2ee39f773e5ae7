#include "schedule/steps/cache_read.h"

#include <array>
#include <string>

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const CacheRead& step) {
  StageIndex source = kNone;
  if (const Illegal illegal = editor.find_stage(step.stage, &source)) return illegal;
  LoopTree& tree = editor.tree();
  if (tree.stage(source).place == Attachment::Inlined) {
    return editor.reject(IllegalCode::StageIsInlined, step.stage);
  }
  if (tree.stage(source).buffers > 1) {
    return editor.reject(IllegalCode::MultipleOutputs, step.stage);
  }
  if (step.readers.empty()) return editor.reject(IllegalCode::NothingReads, step.stage);
  if (step.stage.role == StageRole::Read || step.stage.role == StageRole::Rfactor) {
    return editor.reject(IllegalCode::AlreadyCached, step.stage);
  }
  const te::OpId op = tree.stage(source).op;
  const BufferIndex from = tree.stage(source).first_buffer;
  if (step.ordinal < 0 || step.ordinal > UINT8_MAX) {
    return editor.reject(IllegalCode::BadOrdinal, step.stage, {}, step.ordinal);
  }
  const StageName name{
      .op = step.stage.op, .role = StageRole::Read, .ordinal = static_cast<uint8_t>(step.ordinal)};
  if (tree.find_stage(name) != kNone) return editor.reject(IllegalCode::StageExists, name);
  std::array<StageIndex, StageList::kCapacity> readers{};
  for (size_t r = 0; r < step.readers.size(); ++r) {
    if (const Illegal illegal = editor.find_scheduled(step.readers[r], &readers[r])) return illegal;
    const Stage& reader = tree.stage(readers[r]);
    bool reads = false;
    for (const Access& access : tree.reads_of(reader)) reads |= access.buffer == from;
    if (!reads) return editor.reject(IllegalCode::NotAReader, step.readers[r]);
  }
  if (const Illegal illegal = editor.check_room(name)) return illegal;

  const StageIndex copy =
      editor.add_stage({.name = name, .op = op, .kind = StageKind::Copy}, source, false);
  const Buffer original = tree.buffer(from);
  const BufferIndex to = editor.add_buffer({.stage = copy,
                                            .rank = original.rank,
                                            .element = original.element,
                                            .tensor = original.tensor,
                                            .scope = step.scope});
  tree.stage(copy).first_buffer = to;
  const te::Op& definition = tree.dag->op(op);
  for (uint8_t d = 0; d < original.rank; ++d) {
    const bool named = d < definition.axes.size();
    editor.add_axis(copy, named ? definition.axes[d].name : Name("d" + std::to_string(d)),
                    IterKind::Spatial);
  }
  for (size_t r = 0; r < step.readers.size(); ++r) {
    const Stage& reader = tree.stage(readers[r]);
    for (Access& access : tree.reads_of(reader)) {
      if (access.buffer == from) access.buffer = to;
    }
  }
  editor.add_identity_access(copy, from);
  return {};
}

}  // namespace tilewright::schedule
