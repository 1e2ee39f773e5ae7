// From a ModelPlan to a Program: kernels are built with the chosen schedules, constants packed as
// their kernels want them. The same plan, choices and target give the same Program.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "deploy/choose_schedules.h"
#include "deploy/plan_model.h"
#include "deploy/program.h"

namespace tilewright::deploy {

struct CompileOptions {
  std::string name = "model";  // what is no letter, digit or _ becomes _
  bool c_source = false;       // C beside the objects
  int jobs = 0;                // kernels built at once; 0: as many as cpus
  std::function<void(size_t done, size_t all)> progress = {};  // from any thread, one at a time
  StopToken stop = {};  // asked before each kernel; a requested stop is an error
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
};
Result<Program> compile_model(const ModelPlan& plan, std::span<const Choice> choices,
                              const Target& target, const CompileOptions& options = {});

}  // namespace tilewright::deploy
