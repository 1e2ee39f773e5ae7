// WorkerTeam: a pool of threads that runs one batch of tasks at a time. The calling thread is one
// of them; run() returns when the batch is done. The assignment of tasks to threads is not
// deterministic: results must not depend on it.
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
  explicit WorkerTeam(int threads);  // at least 1, counting the calling thread
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls work(worker) once on each thread; worker 0 is the calling thread. `work` must not throw.
  // Neither reentrant nor thread-safe.
  void run(const std::function<void(int)>& work);

 private:
  void wait_for_work(int worker);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const std::function<void(int)>* work_ = nullptr;  // of the running batch
  uint64_t batch_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;  // last: they use the members above
};

}  // namespace tilewright
