#include "runtime/host/thread_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/host/affinity.h"

namespace tilewright::runtime {
namespace {

thread_local bool inside_task = false;

void run_serially(int64_t iterations, TilewrightTask task, void* context) {
  const bool outer = std::exchange(inside_task, true);
  for (int64_t k = 0; k < iterations; ++k) task(context, k, 0);
  inside_task = outer;
}

// Spins until `ready` or for about `spin_us`; whether it became ready. The clock is read every
// few pauses only, since reading it costs as much as they do.
template <class Ready>
bool spin(const Ready& ready, int spin_us) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::microseconds(spin_us);
  while (true) {
    for (int k = 0; k < 32; ++k) {
      if (ready()) return true;
      _mm_pause();
    }
    if (Clock::now() > until) return false;
  }
}

}  // namespace

ThreadPool::ThreadPool(const ThreadPoolOptions& options) : options_(options) {
  cpus_ = allowed_cpus();
  const int threads = options.threads > 0 ? options.threads : static_cast<int>(cpus_.size());
  for (int k = 0; k < threads; ++k) workers_.push_back(std::make_unique<Worker>());
  for (int k = 1; k < threads; ++k) {
    const int cpu = cpus_[static_cast<size_t>(k) % cpus_.size()];
    Worker& worker = *workers_[static_cast<size_t>(k)];
    try {
      worker.thread = std::thread([this, &worker, k, cpu] { serve(worker, k, cpu); });
    } catch (const std::system_error&) {  // no more threads to be had: fewer workers
      workers_.resize(static_cast<size_t>(k));
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  for (auto& worker : workers_) {
    if (!worker->thread.joinable()) continue;
    worker->state.store(State::Stop);
    {
      std::lock_guard lock(worker->mutex);
      worker->wake.notify_one();
    }
    worker->thread.join();
  }
}

ThreadPool& ThreadPool::process() {
  static ThreadPool* pool = new ThreadPool();  // threads may outlive main's static objects
  return *pool;
}

bool ThreadPool::pin_caller() const { return pin_current_thread(cpus_.front()); }

int32_t ThreadPool::parallel_for(int32_t threads, int64_t iterations, TilewrightTask task,
                                 void* context) {
  if (threads < 1 || task == nullptr) return 1;
  if (iterations <= 0) return 0;
  const int64_t count = std::min<int64_t>({threads, this->threads(), iterations});
  std::unique_lock launch(launch_, std::defer_lock);
  if (count == 1 || inside_task || !launch.try_lock()) {
    run_serially(iterations, task, context);
    return 0;
  }

  const int used = static_cast<int>(count);
  job_ = {task, context, used, std::max<int64_t>(1, iterations / (count * 16))};
  const int64_t quotient = iterations / count;
  const int64_t remainder = iterations % count;
  int64_t begin = 0;
  for (int k = 0; k < used; ++k) {
    Worker& worker = *workers_[static_cast<size_t>(k)];
    const int64_t size = quotient + (k < remainder ? 1 : 0);
    worker.next.store(begin, std::memory_order_relaxed);
    worker.end = begin + size;
    begin += size;
  }
  for (int k = 1; k < used; ++k) post(*workers_[static_cast<size_t>(k)]);
  work(0);
  for (int k = 1; k < used; ++k) wait_until_idle(*workers_[static_cast<size_t>(k)]);
  return 0;
}

void ThreadPool::post(Worker& worker) {
  worker.state.store(State::Posted);
  if (worker.asleep.load()) {
    std::lock_guard lock(worker.mutex);
    worker.wake.notify_one();
  }
}

void ThreadPool::wait_until_idle(Worker& worker) {
  State posted = State::Posted;
  if (worker.state.compare_exchange_strong(posted, State::Idle)) return;  // called off
  const auto idle = [&] { return worker.state.load() == State::Idle; };
  if (spin(idle, options_.spin_us)) return;
  std::unique_lock lock(done_mutex_);
  caller_asleep_.store(true);
  done_.wait(lock, idle);
  caller_asleep_.store(false);
}

// The worker's own block first, then what is left of the others', nearest first.
void ThreadPool::work(int worker) {
  const Job job = job_;
  inside_task = true;
  for (int k = 0; k < job.threads; ++k) {
    Worker& owner = *workers_[static_cast<size_t>((worker + k) % job.threads)];
    const int64_t end = owner.end;
    while (owner.next.load(std::memory_order_relaxed) < end) {
      const int64_t first = owner.next.fetch_add(job.chunk, std::memory_order_relaxed);
      const int64_t last = std::min(first + job.chunk, end);
      for (int64_t i = first; i < last; ++i) job.task(job.context, i, worker);
    }
  }
  inside_task = false;
}

ThreadPool::State ThreadPool::wait_for_post(Worker& self) const {
  const auto called = [&] {
    const State state = self.state.load(std::memory_order_acquire);
    return state == State::Posted || state == State::Stop;
  };
  if (!spin(called, options_.spin_us)) {
    std::unique_lock lock(self.mutex);
    self.asleep.store(true);
    self.wake.wait(lock, [&] {
      return self.state.load() == State::Posted || self.state.load() == State::Stop;
    });
    self.asleep.store(false);
  }
  return self.state.load();
}

void ThreadPool::serve(Worker& self, int worker, int cpu) {
  if (options_.pin) pin_current_thread(cpu);
  while (wait_for_post(self) != State::Stop) {
    State posted = State::Posted;
    if (!self.state.compare_exchange_strong(posted, State::Running)) continue;  // called off
    work(worker);
    self.state.store(State::Idle);
    if (caller_asleep_.load()) {
      std::lock_guard lock(done_mutex_);
      done_.notify_one();
    }
  }
}

}  // namespace tilewright::runtime

extern "C" __attribute__((weak)) int32_t tilewright_parallel_for(void* pool, int32_t threads,
                                                                 int64_t iterations,
                                                                 TilewrightTask task,
                                                                 void* context) {
  using tilewright::runtime::ThreadPool;
  if (pool == nullptr && threads == 1 && iterations >= 0 && task != nullptr) {
    for (int64_t k = 0; k < iterations; ++k) task(context, k, 0);
    return 0;
  }
  ThreadPool& workers = pool != nullptr ? *static_cast<ThreadPool*>(pool) : ThreadPool::process();
  return workers.parallel_for(threads, iterations, task, context);
}
