// The output of `tilewright explain MODEL.so`, as text and as JSON. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/explain_model.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string explained_model_text(const app::ExplainedModel& model);

// The model, then one object per kernel.
std::vector<Json> explained_model_json(const app::ExplainedModel& model);

// `fewer_threads`: the name of a remedy in JSON.
std::string_view text_of(app::Remedy remedy);

// A sentence on a remedy of a kernel.
std::string advice_on(app::Remedy remedy, const app::ExplainedKernel& kernel, int threads);

}  // namespace tilewright::cli
