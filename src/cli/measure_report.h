// The output of `tilewright measure` and `replay`, as text and as JSON. Pure functions.
#pragma once

#include <span>
#include <string>

#include "app/measure.h"
#include "base/json_fwd.h"
#include "cli/verdict_counts.h"

namespace tilewright::cli {

// One verdict: {"candidate": 3, "id": "...", "stored": false, "verdict": "timed", ...}.
// "latency_ns" and "text" are omitted if there are none.
Json answer_json(const measure::Answer& answer, double flop);

// The finalists, fastest first.
std::string finals_text(std::span<const app::MeasureFinal> finals, double flop);
Json final_json(const app::MeasureFinal& one, size_t rank, double flop);

// Why candidates failed: counts by kind, with one example each. Empty if none failed.
std::string failures_text(const app::MeasureTally& tally);

//   120/300  best 412.3 us 893.1 GFLOP/s  31.2 trials/s  failed: 2 build, 1 crash  left 0:06
std::string progress_line(const app::MeasureTally& tally, double flop, double elapsed_s);

}  // namespace tilewright::cli
