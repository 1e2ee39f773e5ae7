// The run worker: a process without a compiler that loads, checks and times kernels. It receives a
// task once. If a kernel ends the process, the StatusBlock describes what happened.
#pragma once

#include <span>

#include "runtime/host/loader.h"
#include "runtime/host/loaders.h"

namespace tilewright::measure {

// Run workers of tests pass additional loaders.
int run_worker_main(int argument_count, char** arguments,
                    std::span<const runtime::Loader> loaders = runtime::all_loaders());

}  // namespace tilewright::measure
