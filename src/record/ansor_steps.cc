#include "record/ansor_steps.h"

#include <fmt/format.h>

#include "base/json.h"
#include "record/ansor_stages.h"
#include "record/ansor_walk.h"

namespace tilewright::record {

using schedule::LoopTree;
using schedule::StageIndex;
using schedule::Trace;

Result<Trace> trace_of_ansor_steps(const Json& steps, const LoopTree& initial) {
  if (!steps.is_array()) return ansor::refuse("the steps are no list");
  if (steps.size() > schedule::kMaxSteps) return ansor::refuse("there are too many steps");
  ansor::Replay walk(initial);
  for (size_t k = 0; k < steps.size(); ++k) {
    const Status status = walk.step(steps[k]);
    if (!status) {
      return ansor::refuse(
          fmt::format("step {} {}: {}", k, print_json(steps[k]), status.error().message));
    }
  }
  return walk.finish();
}

std::vector<std::string> ansor_stages(const LoopTree& initial) {
  std::vector<std::string> names;
  for (const StageIndex stage : ansor::stage_order(initial)) {
    names.push_back(initial.stage(stage).name.text());
  }
  return names;
}

}  // namespace tilewright::record
