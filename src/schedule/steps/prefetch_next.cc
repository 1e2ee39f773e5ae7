#include "schedule/steps/prefetch_next.h"

namespace tilewright::schedule {

Illegal apply_step(TreeEditor& editor, const PrefetchNext& step) {
  PrefetchRequest request;
  if (const Illegal illegal = editor.find_prefetch(step.stage, step.loop, step.source, &request)) {
    return illegal;
  }
  request.distance = 0;
  editor.tree().prefetches.push_back(request);
  return {};
}

}  // namespace tilewright::schedule
