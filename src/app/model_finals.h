// Finals inside a model: the last phase of tuning a model. Between other kernels, a kernel finds
// its operands in other caches than in repeated calls of itself, so another of its fastest
// schedules may win there. Libraries with these schedules run in alternation, timed step by step,
// in a worker process (measure/model_timing.h). The winners are stored as records of the protocol
// in_model.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "deploy/compile_model.h"

namespace tilewright::app {

struct ModelFinalsOptions {
  std::filesystem::path workers{};   // folder of the worker programs
  double seconds = 0;                // total time; infinite: no limit
  bool again = false;                // also if nothing has changed since the last finals
  std::string command{}, version{};  // stored with the run
  deploy::BackEndTables tables{};
  std::function<void(size_t count)> on_libraries =
      {};  // called before libraries are built and compared
};

struct ModelFinals {
  bool held = false;
  // Why the finals did not run; empty: nothing has changed since the last ones.
  std::string why_not;
  std::string cut_short;  // why the finals ended early
  // Latency of the model with the previous schedules, and with the new ones.
  double before_ns = 0, after_ns = 0;
  size_t kernels = 0, changed = 0;  // kernels in all; kernels with a new schedule
  size_t libraries = 0;             // number of libraries compared

  double gain() const { return after_ns > 0 ? before_ns / after_ns : 0; }
};

// A failure on the way is reported in why_not or cut_short; only an error of the store is an Error.
// A requested stop leaves the records unchanged.
Result<ModelFinals> hold_model_finals(const deploy::ModelPlan& plan, const Target& target,
                                      record::Store& store, const ModelFinalsOptions& options,
                                      const StopToken& stop);

}  // namespace tilewright::app
