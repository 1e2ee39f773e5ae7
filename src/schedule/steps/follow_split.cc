#include "schedule/steps/follow_split.h"

#include "schedule/steps/split.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const FollowSplit& step) {
  int source_parts = 0;
  if (const Illegal illegal = editor.find_split(step.source, step.source_loop, &source_parts)) {
    return illegal;
  }
  if (step.parts < 2 || step.parts > source_parts) {
    return editor.reject(IllegalCode::BadParts, step.source, step.source_loop, step.parts,
                         source_parts);
  }
  return split_loop(editor, step.stage, step.loop, static_cast<size_t>(step.parts), step.tail);
}

Factors followed_factors(const FollowSplit& step, const Factors& source) {
  Factors factors;
  const auto count = static_cast<size_t>(step.parts - 1);
  for (size_t k = 0; k < source.size(); ++k) {
    if (k < count) {
      factors.push_back(source[k]);
    } else {
      factors.back() *= source[k];
    }
  }
  return factors;
}

}  // namespace tilewright::schedule
