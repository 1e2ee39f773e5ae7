// ./dev bench pool: the latency of parallel loops of the thread pool, pinned and awake.
//
//   empty       one iteration per thread that does nothing. A thread that has not entered when the
//               others are done is skipped, so this is the least that a loop costs its caller.
//   fork, join  one iteration per thread, which ends when all threads have begun one: all take
//               part, from the start of the loop to its end.
//
// A number of threads above that of CPUs is left out.
#include <array>
#include <atomic>

#include "base/quantile.h"
#include "bench/rows.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/timer.h"

namespace tilewright::bench {
namespace {

constexpr std::array kThreads = {2, 8, 16};
constexpr int kLoops = 100;  // per sample

void do_nothing(void*, int64_t, int32_t) {}

void meet(void* context, int64_t, int32_t) {
  auto& missing = *static_cast<std::atomic<int>*>(context);
  missing.fetch_sub(1);
  while (missing.load(std::memory_order_acquire) > 0) {
  }
}

// The median over samples of the nanoseconds per loop.
double loop_ns(runtime::ThreadPool& pool, int threads, TilewrightTask task, int samples) {
  std::vector<double> all_ns;
  std::atomic<int> missing{0};
  for (int sample = 0; sample < samples; ++sample) {
    const int64_t begin = runtime::now_ns();
    for (int k = 0; k < kLoops; ++k) {
      missing.store(threads);
      pool.parallel_for(threads, threads, task, &missing);
    }
    all_ns.push_back(static_cast<double>(runtime::now_ns() - begin) / kLoops);
  }
  std::ranges::sort(all_ns);
  return quantile_of(all_ns, 0.5);
}

}  // namespace

int run(const Flags& flags, Rows& rows) {
  const int samples = flags.full ? 2000 : 200;
  fmt::print("{:>7}{:>12}{:>18}\n", "threads", "empty ns", "fork, join ns");
  for (const int threads : kThreads) {
    if (threads > static_cast<int>(detect_machine().cpus.size())) continue;
    runtime::ThreadPool pool({.threads = threads});
    pool.pin_caller();
    const double empty_ns = loop_ns(pool, threads, do_nothing, samples);
    const double meet_ns = loop_ns(pool, threads, meet, samples);
    fmt::print("{:>7}{:>12.0f}{:>18.0f}\n", threads, empty_ns, meet_ns);
    const std::string name = fmt::format("pool_{}", threads);
    rows.add(name, "empty_ns", empty_ns);
    rows.add(name, "fork_join_ns", meet_ns);
  }
  return 0;
}

}  // namespace tilewright::bench
