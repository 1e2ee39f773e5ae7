#include "schedule/steps/reorder.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Reorder& step) {
  StageIndex stage = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;

  auto& loops = editor.tree().stage(stage).loops;
  uint64_t named = 0;  // one bit per position
  std::array<VarIndex, kMaxLoops> order{};
  for (size_t k = 0; k < step.loops.size(); ++k) {
    if (const Illegal illegal = editor.find_loop(stage, step.loops[k], &order[k])) return illegal;
    const auto position = std::find(loops.begin(), loops.end(), order[k]) - loops.begin();
    if ((named >> position & 1) != 0) {
      return editor.reject(IllegalCode::LoopNamedTwice, step.stage, step.loops[k]);
    }
    named |= uint64_t{1} << position;
  }
  size_t next = 0;
  for (size_t position = 0; position < loops.size(); ++position) {
    if ((named >> position & 1) != 0) loops[position] = order[next++];
  }
  return {};
}

}  // namespace tilewright::schedule
