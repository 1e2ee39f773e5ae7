// TuneTasks: the tasks of a run, from operators, names of the suite and model files, each with a
// weight and a display name. A value.
#pragma once

#include <string>
#include <vector>

#include "app/model_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "tune/tuning.h"

namespace tilewright::app {

struct TuneTasks {
  std::vector<tune::TunedTask> tasks;
  std::vector<std::string> names;        // display name of each task
  bool of_model = false;                 // at least one of the words is a model
  std::vector<deploy::ModelPlan> plans;  // plans of the models

  // Number of trials if no budget is given. Tasks with a negligible share of a model's time get
  // few.
  int64_t default_trials() const;
};

// `words` replace choice.what. A repeated word doubles its weight; the weight of a model's task is
// the number of its calls per run. If there is a model, the tasks are sorted by work, largest
// first. No words are an error, and so is a stop that is requested while a model is planned.
Result<TuneTasks> tune_tasks_of(const std::vector<std::string>& words, const ModelChoice& choice,
                                const Target& target, const deploy::BackEndTables& tables = {},
                                const StopToken& stop = {});

// Work of one call in FLOP, independent of the machine: each operand byte counts as several FLOP.
double work_of(const Workload& workload);

double operand_bytes(const Workload& workload);  // of inputs, constants and outputs

}  // namespace tilewright::app
