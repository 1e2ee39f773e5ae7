// Worker: one place in a wall of worker processes. Behind it stands a process that was told its
// task; when it dies, is killed for taking too long, has done enough jobs or has grown too much,
// another one takes its place. One job at a time; a process that dies before it has taken its task
// is replaced without a word, but not for ever. Not to be shared between threads.
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
  int recycle_after = 1000;    // jobs
  int64_t recycle_growth = 0;  // bytes of resident memory since its first job
};

// How a job ended.
struct WorkerEvent {
  std::string reply;  // of a worker that lives
  // Of one that does not:
  bool died = false;
  bool late = false;  // it was killed for missing its deadline
  std::string end;    // `killed by SIGSEGV (Segmentation fault)`
  int signal = 0;
  StatusBlock status{};
  std::string stderr_tail;
};

class Worker {
 public:
  // `task` is the TaskMessage every new process is given.
  static Result<Worker> start(WorkerPolicy policy, std::string task);

  // An encoded message; the worker must not be busy. One that is dead is noticed by poll.
  void submit(std::string_view message, double deadline_s);
  bool busy() const { return busy_; }
  int fd() const { return process_->fd(); }
  int pid() const { return process_->pid(); }
  int64_t deadline_ns() const { return deadline_ns_; }  // of runtime::now_ns
  int64_t started() const { return started_; }          // processes so far

  // What has happened to the job, if anything. After a death the next process is on its way.
  Result<std::optional<WorkerEvent>> poll();
  // To be called for each reply: the worker may be replaced.
  Status finish_job(int64_t resident_bytes);
  Status replace() { return restart(); }                     // the process, whatever it is doing
  Status abandon() { return busy_ ? restart() : Status(); }  // its job

 private:
  Worker() = default;
  Status restart();
  WorkerEvent reap(bool late);

  WorkerPolicy policy_;
  std::string task_;
  std::optional<WorkerProcess> process_;
  bool ready_ = false;  // the process has taken its task
  bool busy_ = false;
  std::string message_;  // of the job
  double deadline_s_ = 0;
  int64_t deadline_ns_ = 0;
  int64_t started_ = 0;
  int jobs_ = 0;  // of this process
  int64_t first_resident_ = 0;
  int failed_starts_ = 0;  // in a row
};

}  // namespace tilewright::measure
