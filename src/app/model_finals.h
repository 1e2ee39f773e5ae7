// Finals inside a model, the last step of tuning one. Among the other kernels of the model a kernel
// finds its operands in other caches than when it is called repeatedly, so another of its fastest
// schedules may win there. Libraries with these schedules run in turns, step by step, in a worker
// process (measure/model_timing.h); the winners become records of the protocol in_model.
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
  std::filesystem::path workers{};   // the folder of the worker programs
  double seconds = 0;                // for all of it; infinite: no limit
  bool again = false;                // also where nothing is new since the last finals
  std::string command{}, version{};  // for the store
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
  std::function<void(size_t count)> on_libraries =
      {};  // called before libraries are built and compared
};

struct ModelFinals {
  bool held = false;
  std::string why_not;                 // not held; empty: nothing has changed since the last ones
  std::string cut_short;               // held, but not to their end: why
  double before_ns = 0, after_ns = 0;  // a run: by the schedules that were best before, and now
  size_t kernels = 0, changed = 0;     // those that have another schedule now
  size_t libraries = 0;                // that were compared
};

// What fails on the way is a reason not to hold them; an error is one of the store. A stop that is
// requested meanwhile leaves the records as they are.
Result<ModelFinals> hold_model_finals(const deploy::ModelPlan& plan, const Target& target,
                                      record::Store& store, const ModelFinalsOptions& options,
                                      const StopToken& stop);

}  // namespace tilewright::app
