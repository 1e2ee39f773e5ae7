// TuneTasks: what is tuned: operators, names of the suite and model files as tasks, each with a
// weight and a name for people. A value.
#pragma once

#include <string>
#include <vector>

#include "app/model_choice.h"
#include "base/result.h"
#include "tune/tuning.h"

namespace tilewright::app {

struct TuneTasks {
  std::vector<tune::TunedTask> tasks;
  std::vector<std::string> names;        // of each
  bool of_model = false;                 // a model is among the words
  std::vector<deploy::ModelPlan> plans;  // of the models

  // Trials when no budget is given: few for what takes next to no time of a model.
  int64_t default_trials() const;
};

// `words` take the place of choice.what. A word that is repeated has twice the weight; the weight
// of a model's task is how often the model calls it. Where there is a model, the tasks with most
// work come first. Without words: an error.
Result<TuneTasks> tune_tasks_of(const std::vector<std::string>& words, const ModelChoice& choice,
                                const Target& target, const deploy::BackEndTables& tables = {});

// The work of a call in FLOP, on any machine: a byte of an operand counts as several.
double work_of(const Workload& workload);

}  // namespace tilewright::app
