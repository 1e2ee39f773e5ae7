// What `tilewright tune` says at its end, as text for people and as JSON. Pure functions and
// values.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cli/model_finals.h"
#include "cli/tune_report.h"

namespace tilewright::cli {

struct TuneOutcome {
  std::vector<TuneRow> rows;
  bool of_model = false;
  TuneTally tally;
  double overhead_s = 0;  // of search and learning
  std::string quality;    // of the last scores
  Hash128 trajectory;
  bool resumed = false, interrupted = false;
  std::string records;  // the store
  double all_s = 0, finals_s = 0;
  double peak_gflops = 0;
  std::vector<ModelFinals> in_models = {};  // of each model
};

std::string outcome_text(const TuneOutcome& outcome);
Json outcome_json(const TuneOutcome& outcome);

}  // namespace tilewright::cli
