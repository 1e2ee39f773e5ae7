// ThreadPool: the pool of pinned workers of runtime/abi/thread_pool.h, as a class.
// tilewright_parallel_for and TilewrightCall::pool take a pointer to it.
//
// Thread-safe. Must outlive its calls.
#pragma once

#include <cstdint>

#include "runtime/abi/thread_pool.h"

namespace tilewright::runtime {

struct ThreadPoolOptions {
  int threads = 0;                        // including the caller; 0: one per allowed CPU
  int spin_us = TILEWRIGHT_POOL_SPIN_US;  // idle time after which a worker sleeps
  bool pin = true;
};

class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options = {});  // may throw std::bad_alloc
  ~ThreadPool() { tilewright_pool_close(&pool_); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The default pool of the process, used by calls without a pool. Created on first use with
  // default options, never destroyed.
  static ThreadPool& process();

  int threads() const { return tilewright_pool_threads(&pool_); }

  // Pins the calling thread to the CPU of worker 0, for benchmarks and measuring processes.
  bool pin_caller() const { return tilewright_pool_pin_caller(&pool_) == 0; }

  // See tilewright_parallel_for. `threads` is limited to the size of the pool.
  int32_t parallel_for(int32_t threads, int64_t iterations, TilewrightTask task, void* context) {
    return tilewright_pool_run(&pool_, threads, iterations, task, context);
  }

 private:
  explicit ThreadPool(TilewrightPool pool) : pool_(pool) {}

  TilewrightPool pool_;  // must be the only member: both have the same address
};

}  // namespace tilewright::runtime
