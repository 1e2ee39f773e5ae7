// compile_model: ModelPlan -> Program. Builds the kernels with the chosen schedules and packs
// constants for them. The same plan, choices and target give the same Program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/back_end_tables.h"
#include "deploy/choose_schedules.h"
#include "deploy/plan_model.h"
#include "deploy/program.h"

namespace tilewright::deploy {

// A name as a C identifier: other characters than letters, digits and _ become _, and a name that
// does not begin with a letter or _ gets the prefix `model_`.
std::string symbol_of(std::string_view name);

struct CompileOptions {
  std::string name = "model";  // the symbol of the model is symbol_of(name)
  bool c_source = false;       // also generate C source
  // False: only C source, lowered with the passes of the C back end, which also serves targets that
  // the first back end does not. The kernels then have no artifacts.
  bool artifacts = true;
  int jobs = 0;  // kernels built concurrently; 0: one per CPU
  // Called on any thread, one call at a time.
  std::function<void(size_t done, size_t all)> progress = {};
  StopToken stop = {};  // checked before each kernel; a requested stop is an error
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
};
Result<Program> compile_model(const ModelPlan& plan, std::span<const Choice> choices,
                              const Target& target, const CompileOptions& options = {});

}  // namespace tilewright::deploy
