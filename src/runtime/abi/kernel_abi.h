/* The plain C interface between a compiled kernel and whoever calls it. Version 1.
 *
 * A kernel is specialized to its workload: shapes, strides and alignments are not passed. It is a
 * function of this type, named by its object file:
 *
 *   int32_t kernel(const TilewrightCall* call);   returns 0, or a TILEWRIGHT_STATUS_* code
 *
 * It may be called from several threads at once, each with a call of its own. The buffers of a call
 * do not overlap, the workspace included, unless the kernel only reads them: the code assumes so.
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_
#define TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_ABI_VERSION 1 /* an object carries it; Kernel::load refuses another */
#define TILEWRIGHT_STATUS_OK 0
#define TILEWRIGHT_STATUS_PARALLEL_FAILED 1

typedef struct TilewrightCall {
  void* const* arguments; /* one pointer per argument, aligned as the workload says */
  void* workspace;        /* workspace_bytes(threads), aligned to 64; null if that is 0 */
  void* pool;             /* handed to tilewright_parallel_for; null: the process's own pool */
  int32_t threads;        /* how many workers the pool may use; workspace is sized for it */
  int32_t reserved;
} TilewrightCall;

/* One iteration of a parallel loop. `worker` < threads; no two run at once with one worker. */
typedef void (*TilewrightTask)(void* context, int64_t iteration, int32_t worker);

/* Runs task(context, k, worker) for k = 0 .. iterations-1 on up to `threads` threads, the caller's
 * among them, and returns when all are done: 0, or non-zero if it could not. This is the only
 * symbol a kernel needs from outside; a host program may define its own. */
int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                TilewrightTask task, void* context);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_ */
