// The final output of `tilewright tune`, as text and as JSON. Pure functions.
#pragma once

#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

std::string outcome_text(const app::TuneOutcome& outcome);
Json outcome_json(const app::TuneOutcome& outcome);

}  // namespace tilewright::cli
