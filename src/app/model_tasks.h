// model_tasks: the distinct kernels of a model, with the best record of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/model_choice.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "record/attempt.h"

namespace tilewright::app {

// A model, a target and a store: the input for choosing schedules.
struct ModelOptions {
  ModelChoice model{};
  TargetChoice target{};
  std::string records = kDefaultRecords;
  deploy::BackEndTables tables{};
};

struct ModelTask {
  Hash128 key;
  std::string title;
  double flop = 0;
  double bytes = 0;   // of its operands
  size_t weight = 1;  // calls per run of the model
  // The record it is compiled with; none: the default schedule.
  std::optional<record::Attempt> record;
};

struct ModelTasks {
  std::vector<ModelTask> tasks;
  size_t tuned = 0;     // number of tasks that have a record with a time
  double tuned_ns = 0;  // weighted sum of their times
};

// A requested stop is an error.
Result<ModelTasks> model_tasks(const ModelOptions& options, const StopToken& stop = {});

}  // namespace tilewright::app
