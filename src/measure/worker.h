// Worker: one slot of a worker pool. It owns a process that has received its task, and replaces it
// when it dies, misses a deadline, has done enough jobs or has grown too much. One job at a time. A
// process that dies before it has received its task is replaced without an event, a limited number
// of times in a row. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "measure/worker_process.h"

namespace tilewright::measure {

struct WorkerPolicy {
  WorkerOptions process;
  int recycle_after = 1000;    // number of jobs
  int64_t recycle_growth = 0;  // bytes of resident memory gained since its first job
};

// How a job ended.
struct WorkerEvent {
  std::string reply;  // if the worker is alive
  // If the worker died:
  bool died = false;
  bool late = false;  // killed because it missed its deadline
  std::string end;    // `killed by SIGSEGV (Segmentation fault)`
  int signal = 0;
  StatusBlock status{};
  std::string stderr_tail;
};

class Worker {
 public:
  // `task` is the TaskMessage that every new process receives.
  static Result<Worker> start(WorkerPolicy policy, std::string task);

  // `message` is encoded; the worker must not be busy. Does not wait for the worker to take it:
  // poll sends the rest, and reports a worker that is dead or misses the deadline.
  void submit(std::string_view message, double deadline_s);
  bool busy() const { return busy_; }
  int fd() const { return process_->fd(); }
  short events() const { return process_->events(); }
  int pid() const { return process_->pid(); }
  int64_t deadline_ns() const { return deadline_ns_; }  // in terms of runtime::now_ns
  int64_t started() const { return started_; }          // number of processes so far

  // The result of the job, if it has ended. After a death, the next process is already starting.
  Result<std::optional<WorkerEvent>> poll();
  // Call it for each reply: the process may be replaced.
  Status finish_job(int64_t resident_bytes);
  Status replace() { return restart(); }  // replaces the process, even if it is busy
  Status abandon() { return busy_ ? restart() : Status(); }  // cancels its job

 private:
  Worker() = default;
  Status restart();
  WorkerEvent reap(bool late);

  WorkerPolicy policy_;
  std::string task_;
  std::optional<WorkerProcess> process_;
  bool ready_ = false;  // the process has received its task
  bool busy_ = false;
  std::string message_;  // of the job
  double deadline_s_ = 0;
  int64_t deadline_ns_ = 0;
  int64_t started_ = 0;
  int jobs_ = 0;  // jobs of this process
  int64_t first_resident_ = 0;
  int failed_starts_ = 0;  // consecutive
};

}  // namespace tilewright::measure
