// WorkerPool: the worker processes of one task, and waiting for them. Builder k is bound to the
// k-th cpu from the end, so that kernels of few threads, which are bound from the front, leave some
// of them free. Not to be shared between threads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/measurer.h"
#include "measure/messages.h"
#include "measure/worker.h"

namespace tilewright::measure {

// One thing that came back from a wall.
struct BuildEvent {
  size_t builder = 0;
  BuildReply reply;
  bool innocent = false;  // the worker was killed from outside: worth a second try
};
struct RunEvent {
  RunReply reply;  // of a dead worker: one outcome, and no error
  bool died = false;
  bool innocent = false;
  int32_t kernel = 0;  // died: of those of the job, which was at work
};

class WorkerPool {
 public:
  static Result<WorkerPool> start(const Task& task, const MeasureOptions& options);

  size_t builders() const { return builders_.size(); }
  // May this builder work while a kernel is timed?
  bool overlaps(size_t builder) const { return cpu_index_[builder] >= threads_; }
  bool building(size_t builder) const { return builders_[builder].busy(); }
  bool running() const { return runner_->busy(); }

  // What run workers are told from now on; the present one is replaced.
  Status set_run_task(const TaskMessage& message);

  void submit_build(size_t builder, const std::string& trace);
  void submit_run(const RunMessage& message);

  // Waits until something may have come back, at most `seconds`.
  void wait(double seconds) const;
  // What has come back since. An error when a wall cannot be held up.
  Result<std::vector<BuildEvent>> built();
  Result<std::vector<RunEvent>> ran();

  Status abandon();  // all jobs

  int64_t builders_started() const;
  int64_t runners_started() const { return runners_started_ + (runner_ ? runner_->started() : 0); }
  std::vector<int> pids() const;

 private:
  WorkerPool() = default;

  MeasureOptions options_;
  int threads_ = 1;
  std::vector<Worker> builders_;
  std::vector<int> cpu_index_;
  std::optional<Worker> runner_;  // from set_run_task on
  int64_t runners_started_ = 0;   // of those that were replaced
  RunRequest request_;            // of the run that is going on
};

}  // namespace tilewright::measure
