#include "runtime/host/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/sanitizer.h"
#include "runtime/abi/cpu_order.h"
#include "runtime/host/affinity.h"
#include "target/machine.h"

namespace tilewright::runtime {
namespace {

struct Counts {
  explicit Counts(int64_t iterations, int workers)
      : runs(static_cast<size_t>(iterations)), busy(static_cast<size_t>(workers)) {}
  std::vector<std::atomic<int>> runs;
  std::vector<std::atomic<int>> busy;  // by worker: never above one
  std::atomic<bool> overlap{false};
};

void count(void* context, int64_t iteration, int32_t worker) {
  auto& counts = *static_cast<Counts*>(context);
  if (counts.busy[static_cast<size_t>(worker)].fetch_add(1) != 0) counts.overlap = true;
  counts.runs[static_cast<size_t>(iteration)].fetch_add(1);
  counts.busy[static_cast<size_t>(worker)].fetch_sub(1);
}

TEST(ThreadPool, RunsEachIterationOnce) {
  ThreadPool pool({.threads = 3});
  for (int64_t iterations : {1, 2, 3, 4, 7, 100, 1000}) {
    for (int threads : {1, 2, 3, 8}) {
      Counts counts(iterations, threads);
      ASSERT_EQ(pool.parallel_for(threads, iterations, count, &counts), 0);
      for (const auto& runs : counts.runs) EXPECT_EQ(runs.load(), 1);
      EXPECT_FALSE(counts.overlap.load());
    }
  }
}

TEST(ThreadPool, SleepingWorkersWake) {
  ThreadPool pool({.threads = 2, .spin_us = 1});
  for (int k = 0; k < 50; ++k) {
    Counts counts(64, 2);
    if (k % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_EQ(pool.parallel_for(2, 64, count, &counts), 0);
    for (const auto& runs : counts.runs) ASSERT_EQ(runs.load(), 1);
  }
}

// Many short loops, so that threads enter when a loop ends; some threads are not used by a loop,
// and there are more threads than CPUs. Plain numbers: a thread that runs too late is a data race.
TEST(ThreadPool, LoopsOfChangingSizes) {
  ThreadPool pool({.threads = 5, .spin_us = 20});
  const auto add_one = [](void* context, int64_t iteration, int32_t) {
    ++(*static_cast<std::vector<int>*>(context))[static_cast<size_t>(iteration)];
  };
  for (int round = 0; round < 20'000; ++round) {
    const int threads = 1 + round * 7 % 5;
    std::vector<int> runs(static_cast<size_t>(1 + round * 31 % 101));
    const auto iterations = static_cast<int64_t>(runs.size());
    ASSERT_EQ(pool.parallel_for(threads, iterations, add_one, &runs), 0);
    ASSERT_EQ(std::ranges::count(runs, 1), iterations) << round;
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Two tasks that wait for each other finish only if two threads take part.
TEST(ThreadPool, TasksRunAtTheSameTime) {
  ThreadPool pool({.threads = 2});
  std::atomic<int> arrived{0};
  const auto meet = [](void* context, int64_t, int32_t) {
    auto& here = *static_cast<std::atomic<int>*>(context);
    here.fetch_add(1);
    while (here.load() < 2) std::this_thread::yield();
  };
  EXPECT_EQ(pool.parallel_for(2, 2, meet, &arrived), 0);
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ThreadPool, NestedCallsRunOnTheCaller) {
  ThreadPool pool({.threads = 2});
  struct Context {
    ThreadPool* pool;
    std::atomic<int> inner{0};
  } context{&pool, {}};
  const auto outer = [](void* raw, int64_t, int32_t) {
    auto& c = *static_cast<Context*>(raw);
    const auto inner = [](void* x, int64_t, int32_t worker) {
      EXPECT_EQ(worker, 0);
      static_cast<Context*>(x)->inner.fetch_add(1);
    };
    EXPECT_EQ(c.pool->parallel_for(2, 5, inner, raw), 0);
  };
  EXPECT_EQ(pool.parallel_for(2, 4, outer, &context), 0);
  EXPECT_EQ(context.inner.load(), 20);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool({.threads = 2});
  std::vector<std::thread> callers;
  for (int k = 0; k < 3; ++k) {
    callers.emplace_back([&pool] {
      for (int round = 0; round < 100; ++round) {
        Counts counts(17, 2);
        ASSERT_EQ(pool.parallel_for(2, 17, count, &counts), 0);
        for (const auto& runs : counts.runs) ASSERT_EQ(runs.load(), 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, BadCallsAreErrors) {
  ThreadPool pool({.threads = 2});
  EXPECT_NE(pool.parallel_for(0, 1, count, nullptr), 0);
  EXPECT_NE(pool.parallel_for(1, 1, nullptr, nullptr), 0);
  EXPECT_EQ(pool.parallel_for(2, 0, count, nullptr), 0);
  EXPECT_EQ(pool.parallel_for(2, -1, count, nullptr), 0);
}

// The first iteration cancels: a thread then finishes its chunk at most.
TEST(ThreadPool, CancelledLoopsEndEarlyAndFail) {
  ThreadPool pool({.threads = 2});
  constexpr int64_t kIterations = 100'000;
  std::atomic<int64_t> runs{0};
  const auto cancel = [](void* context, int64_t, int32_t) {
    tilewright_cancel_loops(1);
    static_cast<std::atomic<int64_t>*>(context)->fetch_add(1);
  };
  struct Case {
    ThreadPool* pool;
    int32_t threads;
  };
  for (const Case& one : {Case{&pool, 2}, Case{&pool, 1}, Case{nullptr, 1}}) {
    runs = 0;
    EXPECT_NE(tilewright_parallel_for(one.pool, one.threads, kIterations, cancel, &runs), 0);
    EXPECT_GE(runs.load(), 1);
    EXPECT_LT(runs.load(), kIterations);
    runs = 0;
    EXPECT_NE(tilewright_parallel_for(one.pool, one.threads, kIterations, cancel, &runs), 0);
    EXPECT_EQ(runs.load(), 0);
    tilewright_cancel_loops(0);
    Counts counts(100, one.threads);
    EXPECT_EQ(tilewright_parallel_for(one.pool, one.threads, 100, count, &counts), 0);
    for (const auto& each : counts.runs) EXPECT_EQ(each.load(), 1);
  }
}

TEST(ThreadPool, IsUsedByTheCSymbol) {
  Counts counts(10, 2);
  EXPECT_EQ(tilewright_parallel_for(nullptr, 2, 10, count, &counts), 0);
  ThreadPool pool({.threads = 2});
  EXPECT_EQ(tilewright_parallel_for(&pool, 2, 10, count, &counts), 0);
  EXPECT_EQ(tilewright_parallel_for(nullptr, 1, 10, count, &counts), 0);
  for (const auto& runs : counts.runs) EXPECT_EQ(runs.load(), 3);
}

// Runs a function on worker 1 of a pool.
void on_worker_1(TilewrightPool* pool, void (*look)(void*), void* result) {
  struct Both {
    void (*look)(void*);
    void* result;
    std::atomic<int> arrived{0};
  } both{.look = look, .result = result};
  const auto task = [](void* context, int64_t, int32_t worker) {
    auto& each = *static_cast<Both*>(context);
    if (worker == 1) each.look(each.result);
    each.arrived.fetch_add(1);
    while (each.arrived.load() < 2) std::this_thread::yield();  // so that each worker has one
  };
  ASSERT_EQ(tilewright_pool_run(pool, 2, 2, task, &both), 0);
}

TEST(ThreadPool, WorkersBlockSignals) {
  sigset_t before, after, blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  TilewrightPool pool{};
  const TilewrightPoolOptions options{.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
  ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM}) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  }
  const auto mask = [](void* set) {
    pthread_sigmask(SIG_BLOCK, nullptr, static_cast<sigset_t*>(set));
  };
  on_worker_1(&pool, mask, &blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM}) {
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) {
    EXPECT_EQ(sigismember(&blocked, signal), 0) << signal;
  }
  tilewright_pool_close(&pool);
}

std::atomic<bool> worker_held{false}, worker_released{false};

void hold_worker(int) {
  worker_held = true;
  while (!worker_released) {
  }
}

// Loops neither wait for a worker that does not respond, nor leave it anything to run later.
TEST(ThreadPool, SkipsAWorkerThatDoesNotRespond) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer holds signals back";
  struct sigaction hold{}, before{};
  hold.sa_handler = hold_worker;
  ASSERT_EQ(sigaction(SIGPROF, &hold, &before), 0);
  for (const int32_t spin_us : {1, 1'000'000}) {  // asleep and awake
    worker_held = worker_released = false;
    TilewrightPool pool{};
    const TilewrightPoolOptions options{
        .threads = 2, .spin_us = spin_us, .pin = TILEWRIGHT_POOL_PIN_NONE};
    ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
    pthread_t worker{};
    on_worker_1(
        &pool, [](void* thread) { *static_cast<pthread_t*>(thread) = pthread_self(); }, &worker);
    ASSERT_EQ(pthread_kill(worker, SIGPROF), 0);
    while (!worker_held) std::this_thread::yield();
    for (int k = 0; k < 100; ++k) {
      Counts counts(64, 2);
      ASSERT_EQ(tilewright_pool_run(&pool, 2, 64, count, &counts), 0);
      for (const auto& runs : counts.runs) ASSERT_EQ(runs.load(), 1);
    }
    worker_released = true;
    pthread_t again{};
    on_worker_1(
        &pool, [](void* thread) { *static_cast<pthread_t*>(thread) = pthread_self(); }, &again);
    EXPECT_TRUE(pthread_equal(worker, again));
    tilewright_pool_close(&pool);
  }
  sigaction(SIGPROF, &before, nullptr);
}

// A pool that does not take all cores leaves its threads to the scheduler.
TEST(ThreadPool, IsPinnedIfItHasAllCores) {
  std::vector<int> allowed = allowed_cpus();
  const auto cpus = static_cast<int32_t>(allowed.size());
  const int32_t cores = tilewright_order_cpus(TILEWRIGHT_CPU_FOLDER, allowed.data(), cpus);
  const auto count_cpus = [](void* result) {
    *static_cast<size_t*>(result) = allowed_cpus().size();
  };
  for (const int32_t threads : {2, std::max(cores, 2), std::max(cpus, 2)}) {
    TilewrightPool pool{};
    const TilewrightPoolOptions options{
        .threads = threads, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_IF_ALL};
    ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
    size_t found = 0;
    on_worker_1(&pool, count_cpus, &found);
    EXPECT_EQ(found, threads >= cores ? 1U : static_cast<size_t>(cpus));
    tilewright_pool_close(&pool);
  }
}

// The child has no workers, not even those of a loop that was running in another thread.
TEST(ThreadPool, AForkedChildRunsLoopsAlone) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not support threads and fork";
  for (const bool busy : {false, true}) {
    TilewrightPool pool{};
    const TilewrightPoolOptions options{
        .threads = 3, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
    ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
    Counts before(100, 3);
    ASSERT_EQ(tilewright_pool_run(&pool, 3, 100, count, &before), 0);
    EXPECT_FALSE(tilewright_pool_is_inherited(&pool));
    std::atomic<bool> began{false}, released{false};
    std::pair<std::atomic<bool>*, std::atomic<bool>*> flags{&began, &released};
    std::thread other([&] {
      const auto hold = [](void* context, int64_t, int32_t) {
        const auto& [entered, left] = *static_cast<decltype(flags)*>(context);
        *entered = true;
        while (!*left) std::this_thread::yield();
      };
      if (busy) tilewright_pool_run(&pool, 3, 3, hold, &flags);
    });
    while (busy && !began) std::this_thread::yield();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);  // ends a child that hangs
      Counts counts(100, 3);
      const bool ran = tilewright_pool_run(&pool, 3, 100, count, &counts) == 0 &&
                       std::ranges::all_of(counts.runs, [](const auto& runs) { return runs == 1; });
      const bool inherited = tilewright_pool_is_inherited(&pool) != 0;
      tilewright_pool_close(&pool);
      _exit(ran && inherited && pool.state == nullptr ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    released = true;
    other.join();
    tilewright_pool_close(&pool);
  }
}

// Runs a function in a child; its result, 0 .. 127, or -1 if the child died.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // ends a child that hangs
    _exit(work());
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ThreadPool, PoolsOfTheParentAreInheritedByGrandchildren) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not support threads and fork";
  const TilewrightPoolOptions options{.threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
  TilewrightPool pool{};
  ASSERT_EQ(tilewright_pool_open(&pool, &options), 0);
  EXPECT_EQ(
      in_child([&] {
        TilewrightPool own{};
        if (tilewright_pool_open(&own, &options) != 0) return 1;
        const int wrong = in_child([&] {
          return tilewright_pool_is_inherited(&own) && tilewright_pool_is_inherited(&pool) ? 0 : 2;
        });
        const bool is_own = tilewright_pool_is_inherited(&own) == 0;
        tilewright_pool_close(&own);  // joins its threads
        return wrong + (is_own && tilewright_pool_is_inherited(&pool) ? 0 : 4);
      }),
      0);
  EXPECT_FALSE(tilewright_pool_is_inherited(&pool));
  tilewright_pool_close(&pool);
}

// Two processes of nested PID namespaces have the number 1 both.
TEST(ThreadPool, AChildMayHaveTheNumberOfItsParent) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not support threads and fork";
  constexpr int kNotPermitted = 77;
  const auto nested = [](const std::function<int()>& work) {
    if (unshare(CLONE_NEWPID) != 0) return kNotPermitted;
    return in_child([&] { return getpid() == 1 ? work() : kNotPermitted; });
  };
  const int wrong = in_child([&] {
    if (unshare(CLONE_NEWUSER) != 0 && errno != EPERM) return kNotPermitted;
    return nested([&] {
      TilewrightPool pool{};
      const TilewrightPoolOptions options{
          .threads = 2, .spin_us = 1, .pin = TILEWRIGHT_POOL_PIN_NONE};
      if (tilewright_pool_open(&pool, &options) != 0) return 1;
      const int found = nested([&] {
        const int inherited = tilewright_pool_is_inherited(&pool) ? 0 : 2;
        tilewright_pool_close(&pool);  // does not wait for threads that are not there
        return inherited;
      });
      tilewright_pool_close(&pool);
      return found;
    });
  });
  if (wrong == kNotPermitted) GTEST_SKIP() << "new PID namespaces are not permitted";
  EXPECT_EQ(wrong, 0);
}

TEST(Affinity, ListsCpusOfTheProcess) {
  const std::vector<int> cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), cpus.size());
  EXPECT_FALSE(pin_current_thread(-1));
}

}  // namespace
}  // namespace tilewright::runtime
