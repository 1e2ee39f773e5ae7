// What the words of `tilewright tune` mean: operators, names of the suite and model files become
// tasks with a weight and a name for people.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/model_choice.h"
#include "tune/tuning.h"

namespace tilewright::cli {

struct TuneTasks {
  std::vector<tune::TunedTask> tasks;
  std::vector<std::string> names;        // of each
  bool of_model = false;                 // a model is among the words
  std::vector<deploy::ModelPlan> plans;  // of the models

  // Trials when no budget is given: few for what takes next to no time of a model.
  int64_t default_trials() const;
};

// `words` instead of choice.what. One that is said twice weighs twice; a task of a model weighs as
// often as the model calls it. Where there is a model, what costs most comes first.
Result<TuneTasks> tune_tasks_of(const std::vector<std::string>& words, const ModelChoice& choice,
                                const Target& target);

// About how long a call takes on any machine, in FLOP: bytes of operands count as several.
double work_of(const Workload& workload);

}  // namespace tilewright::cli
