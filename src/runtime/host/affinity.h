// CPUs for threads, and pinning. If the system refuses, threads stay where the scheduler puts them:
// pinning is best effort, never an error.
#pragma once

#include <vector>

namespace tilewright::runtime {

// The logical CPUs that the calling thread may run on, one of each core first: the order in which
// pools use them (runtime/abi/cpu_order.h).
std::vector<int> cpus_by_core();
int core_of_cpu(int cpu);  // equal for the hardware threads of one core

bool pin_current_thread(int cpu);  // false if the system refuses

}  // namespace tilewright::runtime
