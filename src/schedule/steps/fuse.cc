#include "schedule/steps/fuse.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Fuse& step) {
  StageIndex stage = kNone;
  if (const Illegal illegal = editor.find_scheduled(step.stage, &stage)) return illegal;
  if (step.loops.size() < 2) return editor.reject(IllegalCode::NotAdjacent, step.stage);

  LoopTree& tree = editor.tree();
  const auto& loops = tree.stage(stage).loops;
  std::array<VarIndex, kMaxLoops> members{};
  size_t first = 0;
  for (size_t k = 0; k < step.loops.size(); ++k) {
    if (const Illegal illegal = editor.find_loop(stage, step.loops[k], &members[k])) return illegal;
    if (const Illegal illegal = editor.check_unused(stage, members[k])) return illegal;
    const auto position =
        static_cast<size_t>(std::find(loops.begin(), loops.end(), members[k]) - loops.begin());
    if (k == 0) first = position;
    if (position != first + k) {
      return editor.reject(IllegalCode::NotAdjacent, step.stage, step.loops[k]);
    }
    if (tree.var(members[k]).kind != tree.var(members[0]).kind) {
      return editor.reject(IllegalCode::MixedKinds, step.stage, step.loops[k]);
    }
  }
  const VarIndex fused =
      editor.add_var({.name = Name::fuse(std::span(step.loops.begin(), step.loops.size())),
                      .stage = stage,
                      .origin = VarOrigin::Fused,
                      .kind = tree.var(members[0]).kind,
                      .first_member = members[0]});
  for (size_t k = 0; k < step.loops.size(); ++k) {
    LoopVar& member = tree.var(members[k]);
    member.fused_into = fused;
    member.next_member = k + 1 < step.loops.size() ? members[k + 1] : kNone;
  }
  CHECK(editor.replace_loops(stage, first, step.loops.size(), std::span(&fused, 1)));
  return {};
}

}  // namespace tilewright::schedule
