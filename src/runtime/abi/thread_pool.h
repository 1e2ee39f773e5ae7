/* The thread pool behind tilewright_parallel_for, in plain C; the `pool` argument of that function
 * is a TilewrightPool. The symbol is weak here: a host program may define its own.
 *
 * The caller is worker 0; workers 1 .. threads-1 are threads of the pool, optionally pinned (the
 * k-th worker to the k-th allowed CPU, one CPU of each core first: runtime/abi/cpu_order.h). The
 * threads of the pool block all signals except faults and SIGPROF. Each worker gets a contiguous
 * block of iterations, so that it finds the data of the previous call in its cache. A worker that
 * has finished its block steals chunks from the others. An idle worker spins for `spin_us`, then
 * sleeps.
 *
 * A worker that has not woken up when the others have finished its block is skipped, so a loop
 * never waits for a sleeping worker. Nested calls, and calls while another thread uses the pool,
 * run on the calling thread alone.
 *
 * Tasks flush or keep denormals as the caller does: a worker takes over these bits of the float
 * control (float_control_mode) with the job. Its other bits, such as the rounding mode, are those
 * that its thread was created with.
 *
 * A forked child has no workers: loops of a pool that its parent opened run on the calling thread.
 * The child may open other pools, and close inherited ones. A child is recognized by a page that
 * the kernel zeroes on fork, whatever the numbers of the processes, and before Linux 4.14 by its
 * number.
 *
 * Thread-safe, except for opening and closing.
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_THREAD_POOL_H_
#define TILEWRIGHT_RUNTIME_ABI_THREAD_POOL_H_

#include <stdint.h>

#include "runtime/abi/kernel_abi.h"
#include "runtime/abi/model_table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TilewrightPool {
  struct TilewrightPoolState* state;
} TilewrightPool;

typedef struct TilewrightPoolOptions {
  int32_t threads; /* including the caller; 0: one per allowed CPU */
  int32_t spin_us; /* idle time after which a worker sleeps */
  int32_t pin;     /* TILEWRIGHT_POOL_PIN_* */
} TilewrightPoolOptions;

#define TILEWRIGHT_POOL_SPIN_US 300 /* recommended spin_us */

#define TILEWRIGHT_POOL_PIN_NONE 0 /* no thread is pinned */
#define TILEWRIGHT_POOL_PIN_EACH 1
/* Pins each thread if the pool has a thread for every core with an allowed CPU. With fewer threads
 * none is pinned, because the pools of several processes would all occupy the first CPUs while
 * others are idle. */
#define TILEWRIGHT_POOL_PIN_IF_ALL 2

/* Returns 0, or nonzero if there is no memory. The pool has fewer threads than requested if the
 * system refuses more. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_open(TilewrightPool* pool,
                                                        const TilewrightPoolOptions* options);
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_pool_close(TilewrightPool* pool);
/* Nonzero if this process is a forked child of the one that opened the pool. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_is_inherited(const TilewrightPool* pool);
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_threads(const TilewrightPool* pool);
/* Like tilewright_parallel_for. `threads` is limited to the size of the pool. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_run(TilewrightPool* pool, int32_t threads,
                                                       int64_t iterations, TilewrightTask task,
                                                       void* context);
/* Pins the calling thread to the CPU of worker 0; returns 0 on success. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_pin_caller(const TilewrightPool* pool);
/* The pool of the process, created on first use and never closed. */
TILEWRIGHT_RUNTIME_LINKAGE TilewrightPool* tilewright_process_pool(void);

/* While `cancelled` is not 0, the loops of all pools of the process begin no further chunk, or
 * iteration if they run on one thread, and return nonzero. Set it back to 0 only while no loop
 * runs. For processes that measure; async-signal-safe. Loops that run on the threads of a host
 * program are not affected. */
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_cancel_loops(int32_t cancelled);

/* The function that kernels are linked to in place of tilewright_parallel_for, and that calls it.
 * If the host program has defined that, each task sets the flushing bits (float_control_mode) of
 * the kernel's caller on the thread of the host, and afterwards restores the thread's float
 * control. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_kernel_parallel_for(void* pool, int32_t threads,
                                                                  int64_t iterations,
                                                                  TilewrightTask task,
                                                                  void* context);
/* tilewright_parallel_for, by another name where a linker has given that to the function above. */
#ifndef TILEWRIGHT_HOST_PARALLEL_FOR
#define TILEWRIGHT_HOST_PARALLEL_FOR tilewright_parallel_for
#endif

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_THREAD_POOL_H_ */
