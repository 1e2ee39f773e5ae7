// How long a model takes: whole runs, and its steps one by one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/loaded_model.h"

namespace tilewright::cli {

struct ModelTiming {
  std::vector<double> runs_ns;   // of whole runs, ascending
  std::vector<double> steps_ns;  // median of each step, of runs that were timed step by step
  std::vector<double> low_ns;    // kLow quantile of each step: of what disturbs least
  double share = 0;              // of such a run that its steps are together: the median
};
inline constexpr double kLow = 0.25;

// What is timed; all of it outlives that.
struct TimedModel {
  const TilewrightModelApi* api = nullptr;
  TilewrightModel* model = nullptr;
  const ModelArrays* arrays = nullptr;
};

// Runs each until `seconds` are over, once at least, after some runs that are not counted: one
// model three quarters of the time in whole runs, several in short turns and always step by step.
// Ctrl-C ends it early.
Result<std::vector<ModelTiming>> time_models(std::span<const TimedModel> models, double seconds);

double quantile_of(const std::vector<double>& ascending, double q);  // linear between two

// The steps of one title together, in order of first use.
struct StepGroup {
  std::string title;
  size_t count = 0;
  double ns = 0;  // of all of them
};
std::vector<StepGroup> group_steps(const TilewrightModelApi& api, const ModelTiming& timing);

}  // namespace tilewright::cli
