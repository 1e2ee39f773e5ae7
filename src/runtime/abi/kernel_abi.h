/* The C interface between a compiled kernel and its caller. Version 1.
 *
 * A kernel is specialized to its workload: shapes, strides and alignments are not passed. It is a
 * function of this type, whose name is in its object file:
 *
 *   int32_t kernel(const TilewrightCall* call);   returns 0, or a TILEWRIGHT_STATUS_* code
 *
 * It may be called by several threads at once, each with a separate TilewrightCall. The buffers of
 * a call, including the workspace, must not overlap unless the kernel only reads them.
 *
 * A kernel neither sets nor restores the float control of a thread: whether denormals count as zero
 * is up to the caller. The runtime of Tilewright sets it around a call
 * (runtime/abi/float_control.h).
 */
#ifndef TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_
#define TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEWRIGHT_ABI_VERSION 1 /* of an object; Kernel::load rejects others */
#define TILEWRIGHT_STATUS_OK 0
#define TILEWRIGHT_STATUS_PARALLEL_FAILED 1

typedef struct TilewrightCall {
  void* const* arguments; /* one pointer per argument, aligned as in the workload */
  void* workspace;        /* workspace_bytes(threads), aligned to 64; null if that is 0 */
  void* pool;             /* for tilewright_parallel_for; null: the pool of the process */
  int32_t threads;        /* largest number of workers; workspace is sized for it */
  int32_t reserved;
} TilewrightCall;

/* One iteration of a parallel loop. `worker` < threads; concurrent calls have distinct workers. */
typedef void (*TilewrightTask)(void* context, int64_t iteration, int32_t worker);

/* Runs task(context, k, worker) for k = 0 .. iterations-1 on up to `threads` threads, including the
 * caller's, and returns when all are done: 0, or nonzero on failure. This is the only external
 * symbol of a kernel; a host program may define its own. Its function must return normally: no
 * exception, longjmp or cancellation of a thread may leave it or a task, because the float control
 * of the threads would not be restored. */
int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                TilewrightTask task, void* context);

#ifdef __cplusplus
}
#endif
#endif /* TILEWRIGHT_RUNTIME_ABI_KERNEL_ABI_H_ */
