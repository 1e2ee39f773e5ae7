// ThreadPool: pinned workers for the parallel loops of kernels. Behind the C symbol
// tilewright_parallel_for (runtime/abi), which is weak here: a host program may define its own.
//
// The caller takes part as worker 0; workers 1 .. threads-1 are threads of the pool, each pinned
// to its own allowed cpu (the k-th worker to the k-th cpu). Each worker gets a contiguous block of
// iterations, so that what it touched last time is in its cache; whoever is done takes chunks from
// the others' blocks. A worker without work spins for `spin_us`, then sleeps.
//
// A worker that has not woken when the others have finished its block is called off, so a loop
// never waits for a sleeper. Calls from within a task, and calls made while another thread uses
// the pool, run on the calling thread alone.
//
// Safe to use from any thread. Must outlive its calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/abi/kernel_abi.h"

namespace tilewright::runtime {

struct ThreadPoolOptions {
  int threads = 0;    // the caller included; 0: one for each allowed cpu
  int spin_us = 300;  // idleness after which a worker sleeps
  bool pin = true;
};

class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process, made on first use with the defaults and never destroyed.
  static ThreadPool& process();

  int threads() const { return static_cast<int>(workers_.size()); }

  // Pins the calling thread to the cpu kept for worker 0: for benchmarks and measuring processes.
  bool pin_caller() const;

  // As tilewright_parallel_for. More threads than the pool has are as many as it has.
  int32_t parallel_for(int32_t threads, int64_t iterations, TilewrightTask task, void* context);

 private:
  // A worker's inbox. The caller moves Idle -> Posted, the worker Posted -> Running -> Idle, and
  // the caller may take back what is still Posted.
  enum class State : uint32_t { Idle, Posted, Running, Stop };

  struct alignas(128) Worker {
    std::atomic<State> state{State::Idle};
    std::atomic<bool> asleep{false};
    std::mutex mutex;
    std::condition_variable wake;
    alignas(128) std::atomic<int64_t> next{0};  // of its block; beyond `end`: nothing left
    int64_t end = 0;
    std::thread thread;
  };

  struct Job {
    TilewrightTask task = nullptr;
    void* context = nullptr;
    int threads = 0;
    int64_t chunk = 1;
  };

  void serve(Worker& self, int worker, int cpu);
  State wait_for_post(Worker& self) const;
  void post(Worker& worker);
  void wait_until_idle(Worker& worker);
  void work(int worker);

  ThreadPoolOptions options_;
  std::vector<int> cpus_;
  std::vector<std::unique_ptr<Worker>> workers_;  // [0] has no thread: it is the caller
  std::mutex launch_;                             // held by the caller that uses the workers
  Job job_;                                       // written before Posted, read while Running
  std::atomic<bool> caller_asleep_{false};
  std::mutex done_mutex_;
  std::condition_variable done_;
};

}  // namespace tilewright::runtime
