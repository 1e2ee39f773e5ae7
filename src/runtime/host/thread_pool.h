// ThreadPool: the pinned workers of runtime/abi/thread_pool.h, as a class. A pointer to it is what
// tilewright_parallel_for and TilewrightCall::pool expect.
//
// Safe to use from any thread. Must outlive its calls.
#pragma once

#include <cstdint>

#include "runtime/abi/thread_pool.h"

namespace tilewright::runtime {

struct ThreadPoolOptions {
  int threads = 0;                        // the caller included; 0: one for each allowed cpu
  int spin_us = TILEWRIGHT_POOL_SPIN_US;  // idleness after which a worker sleeps
  bool pin = true;
};

class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options = {});  // may throw std::bad_alloc
  ~ThreadPool() { tilewright_pool_close(&pool_); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process, made on first use with the defaults and never destroyed: that of
  // calls without a pool.
  static ThreadPool& process();

  int threads() const { return tilewright_pool_threads(&pool_); }

  // Pins the calling thread to the cpu kept for worker 0: for benchmarks and measuring processes.
  bool pin_caller() const { return tilewright_pool_pin_caller(&pool_) == 0; }

  // As tilewright_parallel_for. More threads than the pool has are as many as it has.
  int32_t parallel_for(int32_t threads, int64_t iterations, TilewrightTask task, void* context) {
    return tilewright_pool_run(&pool_, threads, iterations, task, context);
  }

 private:
  explicit ThreadPool(TilewrightPool pool) : pool_(pool) {}

  TilewrightPool pool_;  // first and only: the address of one is that of the other
};

}  // namespace tilewright::runtime
