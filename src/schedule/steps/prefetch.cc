#include "schedule/steps/prefetch.h"

#include <algorithm>

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Prefetch& step) {
  constexpr int64_t kMaxDistance = 1 << 20;
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  StageIndex source = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  if (const Illegal illegal = editor.find_stage(step.source, &source)) return illegal;
  if (step.distance < 1 || step.distance > kMaxDistance) {
    return editor.reject(IllegalCode::BadDistance, step.stage, step.loop, step.distance,
                         kMaxDistance);
  }
  LoopTree& tree = editor.tree();
  const BufferIndex buffer = tree.stage(source).first_buffer;
  const auto reads = tree.reads_of(tree.stage(stage));
  if (std::ranges::find(reads, buffer, &Access::buffer) == reads.end()) {
    return editor.reject(IllegalCode::NotAReader, step.stage);
  }
  tree.prefetches.push_back({.stage = stage,
                             .loop = loop,
                             .buffer = buffer,
                             .distance = step.distance,
                             .step = editor.step()});
  return {};
}

}  // namespace tilewright::schedule
