// The build worker: a process in which LLVM lives. It is told a task once and turns traces into
// BuiltKernels. A candidate on which the compiler crashes, loops or runs out of memory takes this
// process with it; the StatusBlock then says which pass it was in.
#pragma once

#include <functional>

#include "measure/built_kernel.h"
#include "schedule/trace.h"

namespace tilewright::measure {

// For fault injection: the tests have a build worker of their own, with a bad compiler in it.
struct BuildHooks {
  std::function<void(const schedule::Trace& trace)> before = {};
  std::function<void(const schedule::Trace& trace, BuiltKernel& kernel)> after = {};
};

int build_worker_main(int argument_count, char** arguments, const BuildHooks& hooks = {});

}  // namespace tilewright::measure
