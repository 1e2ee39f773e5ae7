// The clock of models: how long whole runs take, and their steps one by one. In this process; for
// libraries that may crash see measure/model_timing.h. Durations in nanoseconds.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/model_arrays.h"
#include "runtime/abi/model_abi.h"

namespace tilewright::measure {

struct ModelTiming {
  std::vector<double> runs_ns;   // of whole runs, ascending; one at least
  std::vector<double> steps_ns;  // median of each step, of runs that were timed step by step
  std::vector<double> low_ns;    // kModelLowQuantile of each step: least disturbed
  double share = 0;              // of such a run that its steps are together: the median

  bool operator==(const ModelTiming&) const = default;
};
inline constexpr double kModelLowQuantile = 0.25;

// One of the models that are timed. Everything it points to outlives the timing.
struct TimedModel {
  const TilewrightModelApi* api = nullptr;
  TilewrightModel* model = nullptr;
  const ModelArrays* arrays = nullptr;
};

struct ModelClockOptions {
  double seconds = 1;               // for all models together
  std::function<bool()> stop = {};  // true: ends early, with one run of each at least
  std::function<void(size_t model)> at_work = {};  // called before a model runs
};

// Runs the models for options.seconds after a warm-up that is not counted. One model has three
// quarters of the time in whole runs and the rest step by step; several take short turns, always
// step by step. An error of a model ends it.
Result<std::vector<ModelTiming>> time_models(std::span<const TimedModel> models,
                                             const ModelClockOptions& options);

}  // namespace tilewright::measure
