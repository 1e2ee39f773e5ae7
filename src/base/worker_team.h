// WorkerTeam: threads that wait for work. One batch of tasks at a time; the caller is one of the
// threads and returns when all tasks are done. Which thread gets which task is chance, so tasks
// must not care.
//
//   WorkerTeam team(2);
//   team.run([&](int worker) { while (const auto k = next()) ... });
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright {

class WorkerTeam {
 public:
  explicit WorkerTeam(int threads);  // at least 1, with the caller's
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls work(worker) once on each thread, workers numbered from 0, the caller's; it must not
  // throw. Not to be called from two threads at once, nor from within.
  void run(const std::function<void(int)>& work);

 private:
  void wait_for_work(int worker);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const std::function<void(int)>* work_ = nullptr;  // of the batch that runs
  uint64_t batch_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;  // last: they use what is above
};

}  // namespace tilewright
