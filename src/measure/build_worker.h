// The build worker: a process in which the compilers live. It is told a task once and turns traces
// into BuiltKernels by the back end that serves the task's target. A candidate on which the
// compiler crashes, loops or runs out of memory takes this process with it; the StatusBlock then
// says which pass it was in.
#pragma once

#include <functional>
#include <span>

#include "codegen/back_ends/back_ends.h"
#include "measure/built_kernel.h"
#include "schedule/trace.h"

namespace tilewright::measure {

// For tests, which have build workers of their own: with a bad compiler in it, or another back end.
struct BuildHooks {
  std::span<const codegen::BackEnd> back_ends = codegen::all_back_ends();
  std::function<void(const schedule::Trace& trace)> before = {};
  std::function<void(const schedule::Trace& trace, BuiltKernel& kernel)> after = {};
};

int build_worker_main(int argument_count, char** arguments, const BuildHooks& hooks = {});

}  // namespace tilewright::measure
