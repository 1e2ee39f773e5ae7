// TuningLoop: assigns rounds to tasks by the scheduler, and has the search of the task propose and
// its runner measure, until the budget is spent, all tasks are done, or a stop is requested. Clocks
// decide only where it stops, never which candidates are tried or in which order.
//
// With two tasks in flight, the proposals of the next round are prepared while a round is measured.
// This is for machines with CPUs that kernels leave idle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/scheduler.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

struct LoopOptions {
  int64_t trials = 0;  // of all tasks; 0: no limit
  int in_flight = 1;   // 1 or 2; changes the order of rounds
  // Polled between rounds, while another thread may poll the `stop` of a search: if both are one
  // function, it must be thread-safe.
  std::function<bool()> stop{};
  bool shares_model = false;  // tasks share one model, which learns only while no task proposes
};

// Factories for the parts of a task, called before its first round.
struct LoopTasks {
  size_t count = 0;
  std::function<Result<TaskTuner>(size_t task)> tuner;
  std::function<Result<TrialRunner*>(size_t task)> runner;  // outlives the loop
};

class LoopListener {
 public:
  virtual ~LoopListener() = default;
  virtual void on_trial(size_t task, const Proposal& proposal, const Trial& trial) = 0;
  virtual void on_round(size_t task, const RoundReport& report) = 0;
};

class TuningLoop {
 public:
  TuningLoop(LoopTasks tasks, Scheduler scheduler, LoopOptions options);

  // An error of one task ends that task. The loop ends when no task is left.
  Status run(LoopListener* listener = nullptr);

  const Scheduler& scheduler() const { return scheduler_; }
  const TaskTuner* tuner(size_t task) const;      // null: it had no round
  const std::string& problem(size_t task) const;  // why it could not continue; may be empty
  int64_t trials() const { return trials_; }

 private:
  Result<RoundReport> one_round(size_t task, LoopListener* listener,
                                const std::function<void()>& before_learning);
  Status prepare(size_t task);
  bool spent() const;

  LoopTasks tasks_;
  Scheduler scheduler_;
  LoopOptions options_;
  std::vector<std::unique_ptr<TaskTuner>> tuners_;
  std::vector<std::string> problems_;
  int64_t trials_ = 0;
};

}  // namespace tilewright::tune
