// How long a model takes: whole runs, and its steps one by one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/loaded_model.h"

namespace tilewright::cli {

struct ModelTiming {
  std::vector<double> runs_ns;   // of whole runs, ascending
  std::vector<double> steps_ns;  // median of each step, of runs that were timed step by step
  double share = 0;              // of such a run that its steps are together: the median
};

// Runs until `seconds` are over, one run at least: three quarters of them whole runs, after some
// that are not counted. Ctrl-C ends it early.
Result<ModelTiming> time_model(const TilewrightModelApi& api, TilewrightModel* model,
                               const ModelArrays& arrays, double seconds);

double quantile_of(const std::vector<double>& ascending, double q);  // linear between two

// The steps of one title together, in order of first use.
struct StepGroup {
  std::string title;
  size_t count = 0;
  double ns = 0;  // of all of them
};
std::vector<StepGroup> group_steps(const TilewrightModelApi& api, const ModelTiming& timing);

}  // namespace tilewright::cli
