/* Workers for the parallel loops of kernels, in plain C: behind tilewright_parallel_for,
 * whose `pool` is a TilewrightPool. That symbol is weak here: a host program may define its own.
 *
 * The caller takes part as worker 0; workers 1 .. threads-1 are threads of the pool, each pinned
 * to its own allowed cpu (the k-th worker to the k-th cpu) where that is asked for. Signals of the
 * process are not for them: they block all but those of a fault of their own, and SIGPROF. Each
 * worker gets a contiguous block of iterations, so that what it touched last time is in its cache;
 * whoever is done takes chunks from the others' blocks. A worker without work spins for `spin_us`,
 * then sleeps.
 *
 * A worker that has not woken when the others have finished its block is called off, so a loop
 * never waits for a sleeper. Calls from within a task, and calls made while another thread uses
 * the pool, run on the calling thread alone.
 *
 * Safe to use from any thread, but for opening and closing.
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
  int32_t threads; /* the caller included; 0: one for each allowed cpu */
  int32_t spin_us; /* idleness after which a worker sleeps */
  int32_t pin;     /* TILEWRIGHT_POOL_PIN_* */
} TilewrightPoolOptions;

#define TILEWRIGHT_POOL_SPIN_US 300 /* a good value of spin_us */

#define TILEWRIGHT_POOL_PIN_NONE 0 /* threads are where the scheduler puts them */
#define TILEWRIGHT_POOL_PIN_EACH 1
/* Each, where the pool has a thread for every allowed cpu. With fewer, the pools of several
 * processes would all sit on the first cpus while others idle: then none is pinned. */
#define TILEWRIGHT_POOL_PIN_IF_ALL 2

/* 0, or non-zero without memory. With fewer threads than asked for where the system refuses more.
 */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_open(TilewrightPool* pool,
                                                        const TilewrightPoolOptions* options);
TILEWRIGHT_RUNTIME_LINKAGE void tilewright_pool_close(TilewrightPool* pool);
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_threads(const TilewrightPool* pool);
/* As tilewright_parallel_for. More threads than the pool has are as many as it has. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_run(TilewrightPool* pool, int32_t threads,
                                                       int64_t iterations, TilewrightTask task,
                                                       void* context);
/* Pins the calling thread to the cpu kept for worker 0; 0 if that worked. */
TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_pin_caller(const TilewrightPool* pool);
/* The pool of the process, made on first use and never closed. */
TILEWRIGHT_RUNTIME_LINKAGE TilewrightPool* tilewright_process_pool(void);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_THREAD_POOL_H_ */
