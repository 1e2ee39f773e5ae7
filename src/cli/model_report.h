// What `tilewright tune MODEL` prints at its end: the tasks by their share of the model's time.
// Pure functions of values.
#pragma once

#include <span>
#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// Of one run of the model: tasks by weight, those without any time left out.
struct ModelTime {
  double sum_ns = 0;
  double default_ns = 0;  // the same tasks by their default schedules, where those are known
  size_t unknown = 0;     // tasks without a time
};
ModelTime model_time_of(std::span<const app::TuneRow> rows);

// Of the tasks that have a time, what takes longest first; then the sum.
std::string model_table(std::span<const app::TuneRow> rows);

// What came of the finals inside a model; empty: nothing is new.
std::string model_finals_text(const app::ModelFinals& finals);
Json model_finals_json(const app::ModelFinals& finals);

}  // namespace tilewright::cli
