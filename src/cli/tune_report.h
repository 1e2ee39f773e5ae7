// The output of `tilewright tune`, as text and as JSON. Pure functions of values; the caller
// provides the time.
#pragma once

#include <span>
#include <string>

#include "app/tune.h"
#include "base/json_fwd.h"
#include "cli/verdict_counts.h"

namespace tilewright::cli {

// [=====>    ] 120/200  C2D2 412.3 us 893.1 GFLOP/s 78 % of peak  31.2 trials/s  41,200
// candidates/s  failed: 2 build  left 0:06
std::string tune_progress_line(const app::TuneTally& tally, double peak_gflops, double elapsed_s,
                               double left_s, bool bar);

// Tasks with at least one round.
std::string tune_table(std::span<const app::TuneRow> rows, double peak_gflops);
// The other tasks, and why; empty: none. `stopped`: by the user, not by the budget.
std::string not_begun_text(std::span<const app::TuneRow> rows, bool stopped = false);
std::string failures_text(const app::TuneTally& tally);
// `2.31 x the default schedule (951 us)`, as far as known; then the mean gain of all, unless 0.
std::string winners_text(std::span<const app::TuneRow> rows, double mean_gain);

// Why there is no winner: too little time, or nothing valid.
std::string no_winner_text(const app::TuneTally& tally);

// `scores of xgboost in the last round (C2D2, 64 programs): rank correlation 0.52, ...`; empty
// without scores.
std::string quality_text(const std::string& name, const tune::RoundReport& report);

Json round_json(const std::string& name, const tune::RoundReport& report,
                std::span<const tune::Trial> trials);
Json row_json(const app::TuneRow& row);

}  // namespace tilewright::cli
