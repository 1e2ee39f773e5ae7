// What `tilewright measure` and `replay` print, as text for people and as JSON. Pure functions.
#pragma once

#include <span>
#include <string>

#include "app/measure.h"
#include "base/json_fwd.h"
#include "cli/verdict_counts.h"

namespace tilewright::cli {

// One verdict: {"candidate": 3, "id": "...", "stored": false, "verdict": "timed", ...}. Without a
// latency where there is none; "text" only where there is one.
Json answer_json(const measure::Answer& answer, double flop);

// The finalists, fastest first; `default_program` is the default schedule's.
std::string finals_text(std::span<const measure::Answer> finals, Hash128 default_program,
                        double flop);
Json final_json(const measure::Answer& answer, size_t rank, double default_ns, bool is_default,
                double flop);
// The latency of the default schedule among them; 0: it is not there, or was not timed.
double default_latency(std::span<const measure::Answer> finals, Hash128 default_program);

// Why candidates failed: counts by kind, one example each. Empty when none did.
std::string failures_text(const app::MeasureTally& tally);

//   120/300  best 412.3 us 893.1 GFLOP/s  31.2 trials/s  failed: 2 build, 1 crash  left 0:06
std::string progress_line(const app::MeasureTally& tally, double flop, double elapsed_s);

}  // namespace tilewright::cli
