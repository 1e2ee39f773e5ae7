/* See thread_pool.h. Sleeping and waking use futexes on a worker's state. A sleeper announces
 * itself before it reads the state again; a waker changes the state before it looks for sleepers.
 * At least one of them therefore sees the other. */
#include "runtime/abi/thread_pool.h"

#include "runtime/abi/cpu_order.h"
#include "runtime/abi/float_control.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A worker's inbox. The caller moves Idle -> Posted, the worker Posted -> Running -> Idle, and the
 * caller may withdraw a job that is still Posted. */
enum { PoolIdle, PoolPosted, PoolRunning, PoolStop };

enum { PoolCpuWords = 128, PoolCpus = PoolCpuWords * 64, PoolLine = 128 };

typedef struct PoolCpuSet {
  uint64_t words[PoolCpuWords];
} PoolCpuSet;

typedef struct PoolWorker {
  _Alignas(PoolLine) _Atomic uint32_t state;
  _Atomic uint32_t asleep;
  _Alignas(PoolLine) _Atomic int64_t
      next; /* next iteration of its block; at `end` or beyond: none left */
  int64_t end;
  struct TilewrightPoolState* pool;
  pthread_t thread;
  int32_t index;
  int32_t cpu;
} PoolWorker;

typedef struct PoolJob {
  TilewrightTask task;
  void* context;
  int64_t chunk;
  uint64_t mode; /* float_control_mode of the caller */
  int32_t threads;
} PoolJob;

struct TilewrightPoolState {
  _Alignas(PoolLine) _Atomic uint32_t busy; /* held by the caller that uses the workers */
  _Atomic uint32_t caller_asleep;
  PoolJob job;         /* written before Posted, read while Running */
  PoolWorker* workers; /* [0] is the caller and has no thread */
  int32_t threads;
  int32_t spin_us;
  int32_t pin;
  int32_t first_cpu;
};

static _Thread_local int pool_inside_task = 0;

/* Of all loops of the process; not in the state of a pool, because one-threaded loops have none. */
static _Alignas(PoolLine) _Atomic uint32_t pool_cancelled = 0;

static inline int pool_is_cancelled(void) {
  return atomic_load_explicit(&pool_cancelled, memory_order_relaxed) != 0;
}

/* --- the system --- */

static void pool_sleep(_Atomic uint32_t* word, uint32_t while_it_is) {
  syscall(SYS_futex, (void*)word, FUTEX_WAIT_PRIVATE, while_it_is, NULL, NULL, 0);
}

static void pool_wake(_Atomic uint32_t* word) {
  syscall(SYS_futex, (void*)word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int64_t pool_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int pool_pin(int32_t cpu) {
  PoolCpuSet set;
  if (cpu < 0 || cpu >= PoolCpus) return 1;
  memset(&set, 0, sizeof(set));
  set.words[cpu / 64] = (uint64_t)1 << (cpu % 64);
  return syscall(SYS_sched_setaffinity, 0, sizeof(set), &set) != 0;
}

/* The CPUs that the calling thread may run on, as before tilewright_pool_pin_caller. */
static PoolCpuSet pool_cpus_before_pin;
static _Atomic uint32_t pool_caller_pinned = 0;

static PoolCpuSet pool_allowed_cpus(void) {
  PoolCpuSet set;
  if (atomic_load(&pool_caller_pinned) == 2) return pool_cpus_before_pin;
  memset(&set, 0, sizeof(set));
  if (syscall(SYS_sched_getaffinity, 0, sizeof(set), &set) <= 0) set.words[0] = 1;
  return set;
}

/* Their numbers, ascending, in memory for PoolCpus; returns how many. */
static int32_t pool_list_cpus(int32_t* cpus) {
  const PoolCpuSet set = pool_allowed_cpus();
  int32_t count = 0;
  for (int32_t cpu = 0; cpu < PoolCpus; ++cpu) {
    if ((set.words[cpu / 64] >> (cpu % 64) & 1) != 0) cpus[count++] = cpu;
  }
  if (count == 0) cpus[count++] = 0;
  return count;
}

static inline void pool_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* Spins for about `spin_us` until the state is `a` or `b`; returns whether it is. The clock is read
 * only every few pauses, because reading it costs as much as they do. */
static int pool_spin(_Atomic uint32_t* state, uint32_t a, uint32_t b, int32_t spin_us) {
  const int64_t until = pool_now_ns() + (int64_t)spin_us * 1000;
  for (;;) {
    for (int k = 0; k < 32; ++k) {
      const uint32_t now = atomic_load_explicit(state, memory_order_acquire);
      if (now == a || now == b) return 1;
      pool_pause();
    }
    if (pool_now_ns() > until) return 0;
  }
}

/* --- workers --- */

/* Runs the worker's own block first, then the rest of the others' blocks, nearest first. */
static void pool_work(struct TilewrightPoolState* pool, int32_t worker) {
  const PoolJob job = pool->job;
  pool_inside_task = 1;
  for (int32_t k = 0; k < job.threads; ++k) {
    PoolWorker* owner = &pool->workers[(worker + k) % job.threads];
    const int64_t end = owner->end;
    while (atomic_load_explicit(&owner->next, memory_order_relaxed) < end && !pool_is_cancelled()) {
      const int64_t first =
          atomic_fetch_add_explicit(&owner->next, job.chunk, memory_order_relaxed);
      const int64_t last = first + job.chunk < end ? first + job.chunk : end;
      for (int64_t i = first; i < last; ++i) job.task(job.context, i, worker);
    }
  }
  pool_inside_task = 0;
}

static uint32_t pool_wait_for_post(PoolWorker* self) {
  if (!pool_spin(&self->state, PoolPosted, PoolStop, self->pool->spin_us)) {
    atomic_store(&self->asleep, 1);
    for (;;) {
      const uint32_t state = atomic_load(&self->state);
      if (state == PoolPosted || state == PoolStop) break;
      pool_sleep(&self->state, state);
    }
    atomic_store(&self->asleep, 0);
  }
  return atomic_load(&self->state);
}

static void* pool_serve(void* argument) {
  PoolWorker* self = argument;
  struct TilewrightPoolState* pool = self->pool;
  uint64_t mode = float_control_mode();
  if (pool->pin) pool_pin(self->cpu);
  while (pool_wait_for_post(self) != PoolStop) {
    uint32_t posted = PoolPosted;
    if (!atomic_compare_exchange_strong(&self->state, &posted, PoolRunning)) continue;
    if (pool->job.mode != mode) {
      mode = pool->job.mode;
      float_control_set_mode(mode);
    }
    pool_work(pool, self->index);
    atomic_store(&self->state, PoolIdle);
    if (atomic_load(&pool->caller_asleep) != 0) pool_wake(&self->state);
  }
  return NULL;
}

static void pool_post(PoolWorker* worker) {
  atomic_store(&worker->state, PoolPosted);
  if (atomic_load(&worker->asleep) != 0) pool_wake(&worker->state);
}

static void pool_wait_until_idle(struct TilewrightPoolState* pool, PoolWorker* worker) {
  uint32_t posted = PoolPosted;
  if (atomic_compare_exchange_strong(&worker->state, &posted, PoolIdle)) return; /* withdrawn */
  if (pool_spin(&worker->state, PoolIdle, PoolIdle, pool->spin_us)) return;
  atomic_store(&pool->caller_asleep, 1);
  for (;;) {
    const uint32_t state = atomic_load(&worker->state);
    if (state == PoolIdle) break;
    pool_sleep(&worker->state, state);
  }
  atomic_store(&pool->caller_asleep, 0);
}

/* Blocks signals of the process: a handler of the host program must not run on a worker. Faults
 * concern the worker itself, and profilers signal every thread. */
static int pool_start(PoolWorker* worker) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); ++k) sigdelset(&blocked, own[k]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before); /* a new thread inherits the mask */
  const int code = pthread_create(&worker->thread, NULL, pool_serve, worker);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

/* --- the interface --- */

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_open(TilewrightPool* pool,
                                                        const TilewrightPoolOptions* options) {
  int32_t cpus[PoolCpus];
  const int32_t cpu_count = pool_list_cpus(cpus);
  const int32_t threads = options->threads > 0 ? options->threads : cpu_count;
  struct TilewrightPoolState* state = aligned_alloc(PoolLine, sizeof(*state));
  PoolWorker* workers = aligned_alloc(PoolLine, sizeof(PoolWorker) * (size_t)threads);
  pool->state = state;
  if (state == NULL || workers == NULL) {
    free(state);
    free(workers);
    pool->state = NULL;
    return 1;
  }
  memset(state, 0, sizeof(*state));
  memset(workers, 0, sizeof(PoolWorker) * (size_t)threads);
  state->workers = workers;
  state->threads = 1;
  state->spin_us = options->spin_us;
  state->pin = options->pin == TILEWRIGHT_POOL_PIN_EACH ||
               (options->pin == TILEWRIGHT_POOL_PIN_IF_ALL && threads >= cpu_count);
  if (state->pin) tilewright_order_cpus(TILEWRIGHT_CPU_FOLDER, cpus, cpu_count);
  state->first_cpu = cpus[0];
  for (int32_t k = 1; k < threads; ++k) {
    PoolWorker* worker = &workers[k];
    worker->pool = state;
    worker->index = k;
    worker->cpu = cpus[k % cpu_count];
    if (pool_start(worker) != 0) break;
    state->threads = k + 1;
  }
  return 0;
}

TILEWRIGHT_RUNTIME_LINKAGE void tilewright_pool_close(TilewrightPool* pool) {
  struct TilewrightPoolState* state = pool->state;
  if (state == NULL) return;
  for (int32_t k = 1; k < state->threads; ++k) {
    PoolWorker* worker = &state->workers[k];
    atomic_store(&worker->state, PoolStop);
    pool_wake(&worker->state);
    pthread_join(worker->thread, NULL);
  }
  free(state->workers);
  free(state);
  pool->state = NULL;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_threads(const TilewrightPool* pool) {
  return pool->state->threads;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_pin_caller(const TilewrightPool* pool) {
  uint32_t never = 0;
  if (atomic_compare_exchange_strong(&pool_caller_pinned, &never, 1)) {
    pool_cpus_before_pin = pool_allowed_cpus();
    atomic_store(&pool_caller_pinned, 2);
  }
  return pool_pin(pool->state->first_cpu);
}

static void pool_iterate(int64_t iterations, TilewrightTask task, void* context) {
  for (int64_t k = 0; k < iterations && !pool_is_cancelled(); ++k) task(context, k, 0);
}

static void pool_run_serially(int64_t iterations, TilewrightTask task, void* context) {
  const int outer = pool_inside_task;
  pool_inside_task = 1;
  pool_iterate(iterations, task, context);
  pool_inside_task = outer;
}

/* Sets the block of each worker, and the job. */
static void pool_launch(struct TilewrightPoolState* pool, int32_t used, int64_t iterations,
                        TilewrightTask task, void* context) {
  const int64_t quotient = iterations / used;
  const int64_t remainder = iterations % used;
  const int64_t chunk = iterations / ((int64_t)used * 16);
  int64_t begin = 0;
  pool->job.task = task;
  pool->job.context = context;
  pool->job.threads = used;
  pool->job.chunk = chunk > 1 ? chunk : 1;
  pool->job.mode = float_control_mode();
  for (int32_t k = 0; k < used; ++k) {
    const int64_t size = quotient + (k < remainder ? 1 : 0);
    atomic_store_explicit(&pool->workers[k].next, begin, memory_order_relaxed);
    pool->workers[k].end = begin + size;
    begin += size;
  }
  for (int32_t k = 1; k < used; ++k) pool_post(&pool->workers[k]);
  pool_work(pool, 0);
  for (int32_t k = 1; k < used; ++k) pool_wait_until_idle(pool, &pool->workers[k]);
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_run(TilewrightPool* pool, int32_t threads,
                                                       int64_t iterations, TilewrightTask task,
                                                       void* context) {
  struct TilewrightPoolState* state = pool->state;
  int32_t used = threads;
  if (threads < 1 || task == NULL) return 1;
  if (iterations <= 0) return 0;
  if (used > state->threads) used = state->threads;
  if (used > iterations) used = (int32_t)iterations;
  if (used == 1 || pool_inside_task || atomic_exchange(&state->busy, 1) != 0) {
    pool_run_serially(iterations, task, context);
    return pool_is_cancelled();
  }
  pool_launch(state, used, iterations, task, context);
  atomic_store(&state->busy, 0);
  return pool_is_cancelled();
}

TILEWRIGHT_RUNTIME_LINKAGE void tilewright_cancel_loops(int32_t cancelled) {
  atomic_store(&pool_cancelled, cancelled != 0);
}

TILEWRIGHT_RUNTIME_LINKAGE TilewrightPool* tilewright_process_pool(void) {
  static _Atomic(TilewrightPool*) process_pool = NULL;
  TilewrightPool* pool = atomic_load(&process_pool);
  if (pool != NULL) return pool;
  const TilewrightPoolOptions options = {0, TILEWRIGHT_POOL_SPIN_US, TILEWRIGHT_POOL_PIN_EACH};
  TilewrightPool* made = malloc(sizeof(*made));
  if (made == NULL || tilewright_pool_open(made, &options) != 0) {
    free(made);
    return NULL;
  }
  if (atomic_compare_exchange_strong(&process_pool, &pool, made)) return made;
  tilewright_pool_close(made); /* another thread was first */
  free(made);
  return pool;
}

static int32_t pool_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                 TilewrightTask task, void* context) {
  if (threads < 1 || task == NULL) return 1;
  if (pool == NULL && threads == 1) {
    pool_iterate(iterations, task, context);
    return pool_is_cancelled();
  }
  TilewrightPool* workers = pool != NULL ? pool : tilewright_process_pool();
  return workers != NULL ? tilewright_pool_run(workers, threads, iterations, task, context) : 1;
}

int32_t tilewright_parallel_for(void* pool, int32_t threads, int64_t iterations,
                                TilewrightTask task, void* context)
    __attribute__((weak, alias("pool_parallel_for")));

/* --- threads of the host program --- */

/* A task of a kernel, as the host program runs it. */
typedef struct PoolForeignTask {
  TilewrightTask task;
  void* context;
  uint64_t mode; /* float_control_mode of the kernel's caller */
} PoolForeignTask;

static void pool_run_foreign(void* context, int64_t iteration, int32_t worker) {
  const PoolForeignTask* foreign = context;
  const uint64_t before = float_control_enter_mode(foreign->mode);
  foreign->task(foreign->context, iteration, worker);
  float_control_leave(before);
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_kernel_parallel_for(void* pool, int32_t threads,
                                                                  int64_t iterations,
                                                                  TilewrightTask task,
                                                                  void* context) {
  int32_t (*run)(void*, int32_t, int64_t, TilewrightTask, void*) = TILEWRIGHT_HOST_PARALLEL_FOR;
  __asm__("" : "+r"(run)); /* the compiler takes the two functions for different ones */
  if (run == pool_parallel_for) return pool_parallel_for(pool, threads, iterations, task, context);
  PoolForeignTask foreign = {task, context, float_control_mode()};
  return run(pool, threads, iterations, pool_run_foreign, &foreign);
}
