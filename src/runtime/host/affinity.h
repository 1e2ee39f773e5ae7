// Pinning of threads. If the system refuses, threads stay where the scheduler puts them: pinning is
// best effort, never an error.
#pragma once

namespace tilewright::runtime {

bool pin_current_thread(int cpu);  // false if the system refuses

}  // namespace tilewright::runtime
