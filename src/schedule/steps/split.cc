#include "schedule/steps/split.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Split& step) {
  StageIndex stage = kNone;
  VarIndex loop = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (const Illegal illegal = editor.find_loop(stage, step.loop, &loop)) return illegal;
  if (const Illegal illegal = editor.check_unused(stage, loop)) return illegal;
  if (step.factors.empty()) return editor.reject(IllegalCode::BadFactor, step.stage, step.loop);

  LoopTree& tree = editor.tree();
  const LoopVar whole = tree.var(loop);
  std::array<VarIndex, Factors::kCapacity + 1> parts{};
  const size_t count = step.factors.size() + 1;
  for (size_t k = 0; k < count; ++k) {
    parts[k] = editor.add_var({.name = whole.name.child(static_cast<unsigned>(k)),
                               .stage = stage,
                               .origin = VarOrigin::Part,
                               .kind = whole.kind,
                               .part = static_cast<uint8_t>(k),
                               .parent = loop,
                               .step = editor.step()});
  }
  LoopVar& var = tree.var(loop);
  var.parts = static_cast<uint8_t>(count);
  var.first_part = parts[0];
  var.tail = step.tail;
  const auto& loops = tree.stage(stage).loops;
  const auto position =
      static_cast<size_t>(std::find(loops.begin(), loops.end(), loop) - loops.begin());
  if (!editor.replace_loops(stage, position, 1, std::span(parts.data(), count))) {
    return editor.reject(IllegalCode::TooManyLoops, step.stage, step.loop, kMaxLoops);
  }
  return {};
}

}  // namespace tilewright::schedule
