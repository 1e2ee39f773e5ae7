// The clocks of this machine, in nanoseconds.
#pragma once

#include <cstdint>

namespace tilewright::runtime {

int64_t now_ns();         // monotonic
int64_t thread_cpu_ns();  // CPU time of the calling thread

}  // namespace tilewright::runtime
