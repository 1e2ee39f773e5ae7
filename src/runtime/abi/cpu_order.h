/* The order in which a thread pool uses CPUs: one hardware thread of each core first.
 *
 *   CPUs 0 1 2 3, cores {0, 1} {2, 3}   ->   0 2 1 3
 *   CPUs 0 1 2 3, cores {0, 2} {1, 3}   ->   0 1 2 3
 *
 * The cores are read from a folder such as TILEWRIGHT_CPU_FOLDER. A CPU whose siblings it does not
 * give is a core. */
#ifndef TILEWRIGHT_RUNTIME_ABI_CPU_ORDER_H_
#define TILEWRIGHT_RUNTIME_ABI_CPU_ORDER_H_

#include <stdint.h>

#include "runtime/abi/model_table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_CPU_FOLDER "/sys/devices/system/cpu"

/* The core of a CPU: the least of its hardware threads, whether this process may use it or not. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_core_of_cpu(const char* folder, int32_t cpu);

/* Whether `threads` may be one per core of `cpus` CPUs: a core has at most 8 hardware threads.
 * Reads no files. */
static inline int32_t tilewright_may_be_all_cores(int32_t threads, int32_t cpus) {
  return (int64_t)threads * 8 >= cpus;
}

/* Reorders `count` CPUs, given in ascending order: the first ones of all cores, the second ones,
 * and so on, each in ascending order. Returns the number of cores. Without memory, the order stays,
 * and each CPU counts as a core. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_order_cpus(const char* folder, int32_t* cpus,
                                                         int32_t count);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_CPU_ORDER_H_ */
