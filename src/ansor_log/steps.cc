#include "ansor_log/steps.h"

#include <fmt/format.h>

#include "ansor_log/replay.h"
#include "ansor_log/stages.h"
#include "base/json.h"

namespace tilewright::ansor_log {

using schedule::LoopTree;
using schedule::StageIndex;
using schedule::Trace;

Result<Trace> trace_of_steps(const Json& steps, const LoopTree& initial) {
  if (!steps.is_array()) return refuse("the steps are not a list");
  if (steps.size() > schedule::kMaxSteps) return refuse("there are too many steps");
  Replay walk(initial);
  for (size_t k = 0; k < steps.size(); ++k) {
    const Status status = walk.step(steps[k]);
    if (!status) {
      return refuse(fmt::format("step {} {}: {}", k, print_json(steps[k]), status.error().message));
    }
  }
  return walk.finish();
}

std::vector<std::string> stage_names(const LoopTree& initial) {
  std::vector<std::string> names;
  for (const StageIndex stage : stage_order(initial)) {
    names.push_back(initial.stage(stage).name.text());
  }
  return names;
}

}  // namespace tilewright::ansor_log
