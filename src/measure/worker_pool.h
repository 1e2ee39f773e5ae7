// WorkerPool: the worker processes of one task. Builder k is bound to the k-th CPU from the end of
// runtime::cpus_by_core, so that kernels with few threads, which are bound from the front, leave
// some builders undisturbed: those on cores that the kernel does not use.
// Not thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/measurer.h"
#include "measure/messages.h"
#include "measure/worker.h"

namespace tilewright::measure {

// The result of a build job.
struct BuildEvent {
  size_t builder = 0;
  BuildReply reply;
  bool killed_externally = false;  // the worker was killed externally: retry
};
struct RunEvent {
  RunReply reply;  // if the worker died: one outcome, and no error
  bool died = false;
  bool killed_externally = false;
  int32_t kernel = 0;  // if the worker died: index of the kernel that was running
};

// For each CPU, whether a build there leaves a kernel of `threads` threads undisturbed: the kernel
// does not use its core. `cores`: those of the CPUs, in the order in which kernels use them.
std::vector<bool> undisturbing(std::span<const int> cores, int threads);

class WorkerPool {
 public:
  static Result<WorkerPool> start(const Task& task, const MeasureOptions& options);

  size_t builders() const { return builders_.size(); }
  // True if this builder may work while a kernel is timed.
  bool overlaps(size_t builder) const { return overlaps_[builder]; }
  bool building(size_t builder) const { return builders_[builder].busy(); }
  bool running() const { return runner_->busy(); }

  // Sets the task of run workers and replaces the current one.
  Status set_run_task(const TaskMessage& message);

  void submit_build(size_t builder, const std::string& trace);
  void submit_run(const RunMessage& message);

  // Waits for events, at most `seconds`.
  void wait(double seconds) const;
  // The events since the last call. An error if workers cannot be kept running.
  Result<std::vector<BuildEvent>> built();
  Result<std::vector<RunEvent>> ran();

  Status abandon();  // cancels all jobs

  int64_t builders_started() const;
  int64_t runners_started() const { return runners_started_ + (runner_ ? runner_->started() : 0); }
  std::vector<int> pids() const;

 private:
  WorkerPool() = default;

  MeasureOptions options_;
  std::vector<Worker> builders_;
  std::vector<bool> overlaps_;    // by builder
  std::optional<Worker> runner_;  // set by set_run_task
  int64_t runners_started_ = 0;   // of replaced workers
  RunRequest request_;            // the current run
};

}  // namespace tilewright::measure
