// The final output of `tilewright tune MODEL`: the tasks by their share of the time of the model.
// Pure functions of values.
#pragma once

#include <span>
#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// The time of one run of the model: the weighted sum of the tasks that have a time.
struct ModelTime {
  double sum_ns = 0;
  double default_ns = 0;  // the same tasks with their default schedules, if known
  size_t unknown = 0;     // number of tasks without a time
};
ModelTime model_time_of(std::span<const app::TuneRow> rows);

// The tasks that have a time, longest first, then the sum.
std::string model_table(std::span<const app::TuneRow> rows);

// The result of the finals inside a model; empty: nothing new.
std::string model_finals_text(const app::ModelFinals& finals);
Json model_finals_json(const app::ModelFinals& finals);

}  // namespace tilewright::cli
