// time_models: times whole runs of models, and their steps one by one, in this process. For
// libraries that may crash, see measure/model_timing.h. Durations in nanoseconds.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/model_arrays.h"
#include "runtime/abi/model_abi.h"

namespace tilewright::measure {

struct ModelTiming {
  std::vector<double> runs_ns;   // whole runs, ascending; at least one
  std::vector<double> steps_ns;  // median of each step, from runs timed step by step
  std::vector<double> low_ns;    // kModelLowQuantile of each step: the least disturbed
  double share = 0;              // median share of such a run that is spent in steps

  bool operator==(const ModelTiming&) const = default;
};
inline constexpr double kModelLowQuantile = 0.25;

// A model to be timed. Everything it points to outlives the timing.
struct TimedModel {
  const TilewrightModelApi* api = nullptr;
  TilewrightModel* model = nullptr;
  const ModelArrays* arrays = nullptr;
};

struct ModelClockOptions {
  double seconds = 1;               // total of all models
  std::function<bool()> stop = {};  // true: ends early, after at least one run of each
  std::function<void(size_t model)> at_work = {};  // called before a model runs
};

// Runs the models for options.seconds after a warm-up that does not count. A single model spends
// three quarters of the time in whole runs and the rest in runs timed step by step. Several models
// alternate in short turns, always timed step by step. An error of a model ends the timing.
Result<std::vector<ModelTiming>> time_models(std::span<const TimedModel> models,
                                             const ModelClockOptions& options);

}  // namespace tilewright::measure
