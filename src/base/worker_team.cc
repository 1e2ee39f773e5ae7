#include "base/worker_team.h"

#include "base/check.h"

namespace tilewright {

WorkerTeam::WorkerTeam(int threads) {
  CHECK(threads >= 1, "a pool of {} threads", threads);
  for (int worker = 1; worker < threads; ++worker) {
    threads_.emplace_back([this, worker] { wait_for_work(worker); });
  }
}

WorkerTeam::~WorkerTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::run(const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    CHECK(work_ == nullptr, "a batch of tasks begins before the last one ended");
    work_ = &work;
    ++batch_;
    running_ = static_cast<int>(threads_.size());
  }
  begin_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return running_ == 0; });
  work_ = nullptr;
}

void WorkerTeam::wait_for_work(int worker) {
  uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || batch_ != done; });
    if (stop_) return;
    done = batch_;
    const std::function<void(int)>& work = *work_;
    lock.unlock();
    work(worker);
    lock.lock();
    if (--running_ == 0) end_.notify_one();
  }
}

}  // namespace tilewright
