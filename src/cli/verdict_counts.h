// Verdict counts as text and JSON. Pure functions.
#pragma once

#include <string>

#include "app/verdicts.h"
#include "base/json_fwd.h"

namespace tilewright::cli {

// ` failed: 2 build, 1 crash`; empty if none failed.
std::string failed_text(const app::VerdictCounts& by_kind);

// {"timed": 3, "crash": 1}: nonzero counts only.
Json verdicts_json(const app::VerdictCounts& by_kind);

}  // namespace tilewright::cli
