// Which logical cpus this process may run on, and pinning a thread to one of them. Where the
// system refuses, threads stay where the scheduler puts them: pinning is a wish, never an error.
#pragma once

#include <vector>

namespace tilewright::runtime {

std::vector<int> allowed_cpus();   // of the calling thread, ascending; never empty
bool pin_current_thread(int cpu);  // false when the system refuses

}  // namespace tilewright::runtime
