// The logical CPUs that this process may run on, and pinning of threads. If the system refuses,
// threads stay where the scheduler puts them: pinning is best effort, never an error.
#pragma once

#include <vector>

namespace tilewright::runtime {

std::vector<int> allowed_cpus();   // of the calling thread, ascending; never empty
bool pin_current_thread(int cpu);  // false if the system refuses

}  // namespace tilewright::runtime
