// The run worker: a process without a compiler that loads kernels, checks and times them. It is
// told a task once. Whatever a kernel does to it, the StatusBlock says what that was.
#pragma once

#include <span>

#include "runtime/host/loader.h"
#include "runtime/host/loaders.h"

namespace tilewright::measure {

// Tests have run workers of their own, with more loaders.
int run_worker_main(int argument_count, char** arguments,
                    std::span<const runtime::Loader> loaders = runtime::all_loaders());

}  // namespace tilewright::measure
