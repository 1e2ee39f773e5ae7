// Finals inside a model, which end `tilewright tune MODEL`. Between the other kernels of the model
// a kernel finds its operands elsewhere than when it is called again and again, so that another of
// its fastest schedules may be ahead there. Libraries with these schedules run in turns, step by
// step, in a process of their own; the winners become records of the protocol in_model.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "deploy/compile_model.h"

namespace tilewright::cli {

struct ModelFinalsOptions {
  double seconds = 0;                                // that all of it may take; infinite: as usual
  bool again = false;                                // also where nothing is new since the last
  std::string command, version;                      // for the store
  std::function<void(const std::string&)> say = {};  // what is being done
};

struct ModelFinals {
  bool held = false;
  std::string why_not;                 // not held; empty: nothing has changed since the last ones
  std::string cut_short;               // held, but not to their end: why
  double before_ns = 0, after_ns = 0;  // a run: by the schedules that were best before, and now
  size_t kernels = 0, changed = 0;     // those that have another schedule now
  size_t libraries = 0;                // that were compared
};

// What fails on the way is a reason not to hold them; an error is one of the store.
Result<ModelFinals> hold_model_finals(const deploy::ModelPlan& plan, const Target& target,
                                      record::Store& store, const ModelFinalsOptions& options);

}  // namespace tilewright::cli
