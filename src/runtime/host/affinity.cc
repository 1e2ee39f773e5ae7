#include "runtime/host/affinity.h"

#include <pthread.h>
#include <sched.h>

#include "runtime/abi/cpu_order.h"
#include "target/machine.h"

namespace tilewright::runtime {

std::vector<int> cpus_by_core() {
  std::vector<int> cpus = allowed_cpus();
  tilewright_order_cpus(TILEWRIGHT_CPU_FOLDER, cpus.data(), static_cast<int32_t>(cpus.size()));
  return cpus;
}

int core_of_cpu(int cpu) { return tilewright_core_of_cpu(TILEWRIGHT_CPU_FOLDER, cpu); }

bool pin_current_thread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

}  // namespace tilewright::runtime
