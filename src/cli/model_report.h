// The final output of `tilewright tune MODEL`: the tasks by their share of the time of the model.
// Pure functions of values.
#pragma once

#include <span>
#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// The tasks that have a time, longest first, then the sum, which is `time`.
std::string model_table(std::span<const app::TuneRow> rows, const app::ModelTime& time);

// The result of the finals inside a model; empty: nothing new.
std::string model_finals_text(const app::ModelFinals& finals);
Json model_finals_json(const app::ModelFinals& finals);

}  // namespace tilewright::cli
