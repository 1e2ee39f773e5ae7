// Counts of verdicts in lines of progress and in JSON. Pure functions.
#pragma once

#include <string>

#include "app/verdict_counts.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// `  failed: 2 build, 1 crash`, or nothing where none failed.
std::string failed_text(const app::VerdictCounts& by_kind);

// {"timed": 3, "crash": 1}: those that there are.
Json verdicts_json(const app::VerdictCounts& by_kind);

}  // namespace tilewright::cli
