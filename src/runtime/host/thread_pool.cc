#include "runtime/host/thread_pool.h"

#include <new>
#include <type_traits>

namespace tilewright::runtime {

static_assert(std::is_standard_layout_v<ThreadPool>);
static_assert(sizeof(ThreadPool) == sizeof(TilewrightPool));

ThreadPool::ThreadPool(const ThreadPoolOptions& options) : pool_{} {
  const TilewrightPoolOptions plain{
      .threads = options.threads, .spin_us = options.spin_us, .pin = options.pin ? 1 : 0};
  if (tilewright_pool_open(&pool_, &plain) != 0) throw std::bad_alloc();
}

ThreadPool& ThreadPool::process() {
  static ThreadPool* pool = [] {  // threads may outlive main's static objects
    TilewrightPool* plain = tilewright_process_pool();
    if (plain == nullptr) throw std::bad_alloc();
    return new ThreadPool(*plain);
  }();
  return *pool;
}

}  // namespace tilewright::runtime
