#include "schedule/steps/prefetch.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const Prefetch& step) {
  constexpr int64_t kMaxDistance = 1 << 20;
  PrefetchRequest request;
  if (const Illegal illegal = editor.find_prefetch(step.stage, step.loop, step.source, &request)) {
    return illegal;
  }
  if (step.distance < 1 || step.distance > kMaxDistance) {
    return editor.reject(IllegalCode::BadDistance, step.stage, step.loop, step.distance,
                         kMaxDistance);
  }
  request.distance = step.distance;
  editor.tree().prefetches.push_back(request);
  return {};
}

}  // namespace tilewright::schedule
