// The build worker: the process that runs the compilers. It receives a task once, then turns traces
// into BuiltKernels with the back end of the task's target. If the compiler crashes, loops or runs
// out of memory on a candidate, only this process ends; the StatusBlock names the pass.
#pragma once

#include <functional>
#include <span>

#include "codegen/back_ends/back_ends.h"
#include "measure/built_kernel.h"
#include "schedule/trace.h"

namespace tilewright::measure {

// For tests with special build workers: a faulty compiler, or another back end.
struct BuildHooks {
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
  std::function<void(const schedule::Trace& trace)> before = {};
  std::function<void(const schedule::Trace& trace, BuiltKernel& kernel)> after = {};
};

int build_worker_main(int argument_count, char** arguments, const BuildHooks& hooks = {});

}  // namespace tilewright::measure
