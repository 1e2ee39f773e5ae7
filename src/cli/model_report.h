// What `tilewright tune MODEL` prints at its end: the tasks by their share of the model's time.
// Pure functions of values.
#pragma once

#include <span>
#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// Of the tasks that have a time, what takes longest first; then the sum, which is `time`.
std::string model_table(std::span<const app::TuneRow> rows, const app::ModelTime& time);

// What came of the finals inside a model; empty: nothing is new.
std::string model_finals_text(const app::ModelFinals& finals);
Json model_finals_json(const app::ModelFinals& finals);

}  // namespace tilewright::cli
