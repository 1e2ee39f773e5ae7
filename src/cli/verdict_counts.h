// How many candidates of a run got which verdict, for lines of progress and for JSON.
#pragma once

#include <array>
#include <string>

#include "base/json_fwd.h"
#include "record/attempt.h"

namespace tilewright::cli {

using VerdictCounts = std::array<size_t, record::kVerdictKinds>;  // by kind

// `  failed: 2 build, 1 crash`, or nothing where none failed.
std::string failed_text(const VerdictCounts& by_kind);

// {"timed": 3, "crash": 1}: those that there are.
Json verdicts_json(const VerdictCounts& by_kind);

}  // namespace tilewright::cli
