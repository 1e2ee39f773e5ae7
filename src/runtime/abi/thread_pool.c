/* See thread_pool.h. Each loop is a generation. The caller publishes it by one store to `post`,
 * which all spinning workers read. A worker takes part once it has changed its state from closed in
 * an earlier generation to running in this one. At the end, the caller waits for the workers that
 * are running, and itself closes the state of the others, which are skipped: they can no longer
 * enter. No worker therefore reads the job, or claims a chunk, of a loop that has ended.
 *
 * Sleeping and waking use futexes. A sleeper announces itself before it reads the word that it
 * waits for again; a waker changes that word before it looks for sleepers. At least one of them
 * therefore sees the other. */
#include "runtime/abi/thread_pool.h"

#include "runtime/abi/cpu_order.h"
#include "runtime/abi/float_control.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PoolCpuWords = 128, PoolCpus = PoolCpuWords * 64, PoolLine = 128 };

/* The low bits of a word whose other bits are a generation: the number of threads of a loop, or of
 * claimed chunks. 48 bits of generations do not repeat. */
enum { PoolLowBits = 16, PoolLowMask = (1 << PoolLowBits) - 1 };

typedef struct PoolCpuSet {
  uint64_t words[PoolCpuWords];
} PoolCpuSet;

typedef struct PoolWorker {
  _Alignas(PoolLine) _Atomic uint32_t state; /* pool_closed or pool_running of a generation */
  struct TilewrightPoolState* pool;
  pthread_t thread;
  int32_t index;
  int32_t cpu;
  _Alignas(PoolLine) _Atomic uint64_t next; /* of its block: a generation and its claimed chunks */
} PoolWorker;

typedef struct PoolJob {
  TilewrightTask task; /* null: the workers end */
  void* context;
  int64_t quotient; /* iterations of a block; the first `remainder` blocks have one more */
  int64_t remainder;
  int64_t chunk;
  uint64_t mode; /* float_control_mode of the caller */
} PoolJob;
_Static_assert(sizeof(_Atomic uint64_t) + sizeof(PoolJob) <= 64, "more than a cache line");

struct TilewrightPoolState {
  _Alignas(PoolLine) _Atomic uint32_t busy; /* held by the caller that uses the workers */
  uint64_t generation;                      /* of the last loop */
  /* In one cache line: a worker that sees a loop has its job. */
  _Alignas(PoolLine) _Atomic uint64_t post; /* generation and number of threads of the last loop */
  PoolJob job;                              /* written before `post`, read while running */
  /* Rarely written. */
  _Alignas(PoolLine) _Atomic uint32_t caller_asleep;
  int32_t threads;
  int32_t spin_us;
  int32_t pin;
  int32_t first_cpu;
  /* Not 0 in the process that opened it; a forked child, which has no workers, reads 0. Null if the
   * kernel cannot do that: then the number of the process decides. */
  const volatile uint32_t* fork_mark;
  int64_t process;     /* that opened it */
  PoolWorker* workers; /* [0] is the caller and has no thread */
  /* Of each worker: 1 while it sleeps, on this word. */
  _Alignas(PoolLine) _Atomic uint32_t asleep[];
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

static int64_t pool_process(void) { return syscall(SYS_getpid); }

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* since Linux 4.14 */
#endif

/* A page with a mark, which the kernel zeroes in forked children; null if it cannot. */
static const volatile uint32_t* pool_map_fork_mark(void) {
  uint32_t* mark =
      mmap(NULL, sizeof(*mark), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mark == MAP_FAILED) return NULL;
  if (madvise(mark, sizeof(*mark), MADV_WIPEONFORK) != 0) {
    munmap(mark, sizeof(*mark));
    return NULL;
  }
  *mark = 1;
  return mark;
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

/* --- workers --- */

/* The states of a worker that has ended or was skipped in a generation, and that runs in it. */
static inline uint32_t pool_closed(uint64_t generation) { return (uint32_t)generation * 2; }
static inline uint32_t pool_running(uint64_t generation) { return (uint32_t)generation * 2 + 1; }

/* Whether a loop uses a worker whose state is `closed`, and not in that loop. */
static inline int pool_concerns(uint64_t post, const PoolWorker* worker, uint32_t closed) {
  return (int32_t)(post & PoolLowMask) > worker->index &&
         pool_closed(post >> PoolLowBits) != closed;
}

typedef int (*PoolCondition)(const PoolWorker* worker, uint32_t closed);

static int pool_is_posted(const PoolWorker* worker, uint32_t closed) {
  return pool_concerns(atomic_load_explicit(&worker->pool->post, memory_order_acquire), worker,
                       closed);
}

static int pool_is_closed(const PoolWorker* worker, uint32_t closed) {
  return atomic_load_explicit(&worker->state, memory_order_acquire) == closed;
}

/* Spins for about `spin_us` until the condition holds; returns whether it does. The clock is read
 * only every few pauses, because reading it costs as much as they do. */
static int pool_spin(PoolCondition holds, const PoolWorker* worker, uint32_t closed) {
  const int64_t until = pool_now_ns() + (int64_t)worker->pool->spin_us * 1000;
  for (;;) {
    for (int k = 0; k < 32; ++k) {
      if (holds(worker, closed)) return 1;
      pool_pause();
    }
    if (pool_now_ns() > until) return 0;
  }
}

/* Claims a chunk of the block begin .. end-1: its first iteration, or `end` if none is left. */
static int64_t pool_claim(_Atomic uint64_t* next, uint64_t generation, int64_t begin, int64_t end,
                          int64_t chunk) {
  uint64_t now = atomic_load_explicit(next, memory_order_relaxed);
  while (now >> PoolLowBits != generation) { /* no chunk is claimed yet */
    const uint64_t one = generation << PoolLowBits | 1;
    if (atomic_compare_exchange_weak_explicit(next, &now, one, memory_order_relaxed,
                                              memory_order_relaxed)) {
      return begin;
    }
  }
  if (begin + (int64_t)(now & PoolLowMask) * chunk >= end) return end;
  now = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
  const int64_t first = begin + (int64_t)(now & PoolLowMask) * chunk;
  return first < end ? first : end;
}

/* Runs the worker's own block first, then the rest of the others' blocks, nearest first. */
static void pool_work(struct TilewrightPoolState* pool, const PoolJob* job, uint64_t post,
                      int32_t worker) {
  const int32_t threads = (int32_t)(post & PoolLowMask);
  pool_inside_task = 1;
  for (int32_t k = 0; k < threads; ++k) {
    const int32_t owner = (worker + k) % threads;
    const int64_t longer = owner < job->remainder ? owner : job->remainder;
    const int64_t begin = owner * job->quotient + longer;
    const int64_t end = begin + job->quotient + (owner < job->remainder);
    while (!pool_is_cancelled()) {
      const int64_t first =
          pool_claim(&pool->workers[owner].next, post >> PoolLowBits, begin, end, job->chunk);
      if (first == end) break;
      const int64_t last = end - first > job->chunk ? first + job->chunk : end;
      for (int64_t i = first; i < last; ++i) job->task(job->context, i, worker);
    }
  }
  pool_inside_task = 0;
}

static void pool_wait_for_post(PoolWorker* self, uint32_t closed) {
  _Atomic uint32_t* asleep = &self->pool->asleep[self->index];
  if (pool_spin(pool_is_posted, self, closed)) return;
  for (;;) {
    atomic_store(asleep, 1);
    if (pool_concerns(atomic_load(&self->pool->post), self, closed)) break;
    pool_sleep(asleep, 1);
  }
  atomic_store(asleep, 0);
}

static void* pool_serve(void* argument) {
  PoolWorker* self = argument;
  struct TilewrightPoolState* pool = self->pool;
  uint64_t mode = float_control_mode();
  if (pool->pin) pool_pin(self->cpu);
  for (;;) {
    /* The state is read before the post: if it is still the same when the worker enters, the caller
     * has not closed the loop. */
    uint32_t state = atomic_load(&self->state);
    pool_wait_for_post(self, state);
    const uint64_t post = atomic_load(&pool->post);
    const uint64_t generation = post >> PoolLowBits;
    if (!pool_concerns(post, self, state)) continue;
    if (!atomic_compare_exchange_strong(&self->state, &state, pool_running(generation))) continue;
    const PoolJob job = pool->job;
    if (job.task == NULL) return NULL;
    if (job.mode != mode) {
      mode = job.mode;
      float_control_set_mode(mode);
    }
    pool_work(pool, &job, post, self->index);
    atomic_store(&self->state, pool_closed(generation));
    if (atomic_load(&pool->caller_asleep) != 0) pool_wake(&self->state);
  }
}

/* Begins a loop of `job` on `threads` threads, including the caller's. */
static uint64_t pool_post(struct TilewrightPoolState* pool, const PoolJob* job, int32_t threads) {
  const uint64_t post = ++pool->generation << PoolLowBits | (uint64_t)threads;
  pool->job = *job;
  atomic_store(&pool->post, post);
  for (int32_t k = 1; k < threads; ++k) {
    if (atomic_load(&pool->asleep[k]) == 0) continue;
    atomic_store(&pool->asleep[k], 0);
    pool_wake(&pool->asleep[k]);
  }
  return post;
}

/* Returns when the worker is no longer in the loop. If it has not entered, it is skipped. */
static void pool_close_worker(PoolWorker* worker, uint64_t generation) {
  struct TilewrightPoolState* pool = worker->pool;
  const uint32_t closed = pool_closed(generation);
  uint32_t state = atomic_load(&worker->state);
  if (state == closed) return;
  if (state != pool_running(generation) &&
      atomic_compare_exchange_strong(&worker->state, &state, closed)) {
    return;
  }
  if (pool_spin(pool_is_closed, worker, closed)) return;
  atomic_store(&pool->caller_asleep, 1);
  while ((state = atomic_load(&worker->state)) != closed) pool_sleep(&worker->state, state);
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

/* Zeroed whole cache lines; null if there is no memory. */
static void* pool_allocate(size_t bytes) {
  const size_t size = (bytes + PoolLine - 1) / PoolLine * PoolLine;
  void* memory = aligned_alloc(PoolLine, size);
  return memory != NULL ? memset(memory, 0, size) : NULL;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_open(TilewrightPool* pool,
                                                        const TilewrightPoolOptions* options) {
  int32_t cpus[PoolCpus];
  const int32_t cpu_count = pool_list_cpus(cpus);
  const int32_t wanted = options->threads > 0 ? options->threads : cpu_count;
  const int32_t threads = wanted < PoolCpus ? wanted : PoolCpus;
  struct TilewrightPoolState* state = pool_allocate(sizeof(struct TilewrightPoolState) +
                                                    sizeof(_Atomic uint32_t) * (size_t)threads);
  PoolWorker* workers = pool_allocate(sizeof(PoolWorker) * (size_t)threads);
  pool->state = state;
  if (state == NULL || workers == NULL) {
    free(state);
    free(workers);
    pool->state = NULL;
    return 1;
  }
  state->workers = workers;
  state->threads = 1;
  state->spin_us = options->spin_us;
  state->fork_mark = pool_map_fork_mark();
  state->process = pool_process();
  if (options->pin == TILEWRIGHT_POOL_PIN_EACH ||
      (options->pin == TILEWRIGHT_POOL_PIN_IF_ALL &&
       tilewright_may_be_all_cores(threads, cpu_count))) {
    const int32_t cores = tilewright_order_cpus(TILEWRIGHT_CPU_FOLDER, cpus, cpu_count);
    state->pin = options->pin == TILEWRIGHT_POOL_PIN_EACH || threads >= cores;
  }
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
  if (!tilewright_pool_is_inherited(pool)) {
    const PoolJob end = {NULL, NULL, 0, 0, 0, 0};
    pool_post(state, &end, state->threads);
    for (int32_t k = 1; k < state->threads; ++k) pthread_join(state->workers[k].thread, NULL);
  }
  if (state->fork_mark != NULL) munmap((void*)state->fork_mark, sizeof(*state->fork_mark));
  free(state->workers);
  free(state);
  pool->state = NULL;
}

TILEWRIGHT_RUNTIME_LINKAGE int32_t tilewright_pool_is_inherited(const TilewrightPool* pool) {
  const struct TilewrightPoolState* state = pool->state;
  return state->fork_mark != NULL ? *state->fork_mark == 0 : state->process != pool_process();
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

static void pool_launch(struct TilewrightPoolState* pool, int32_t used, int64_t iterations,
                        TilewrightTask task, void* context) {
  const int64_t chunk = iterations / ((int64_t)used * 16);
  const PoolJob job = {.task = task,
                       .context = context,
                       .quotient = iterations / used,
                       .remainder = iterations % used,
                       .chunk = chunk > 1 ? chunk : 1,
                       .mode = float_control_mode()};
  const uint64_t post = pool_post(pool, &job, used);
  pool_work(pool, &job, post, 0);
  for (int32_t k = 1; k < used; ++k) pool_close_worker(&pool->workers[k], post >> PoolLowBits);
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
