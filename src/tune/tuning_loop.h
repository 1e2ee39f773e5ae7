// TuningLoop: the scheduler gives out rounds, the task's search proposes, its runner tries, until
// the budget is spent, all tasks are done, or a stop is asked for. Where it stops is the only thing
// that clocks decide: which candidates come in which order does not depend on them.
//
// With two tasks in flight the proposals of the next round are prepared while one is measured: for
// machines with cpus that kernels leave idle.
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
  int64_t trials = 0;            // of all tasks; 0: no limit
  int in_flight = 1;             // 1 or 2; changes the order of rounds
  std::function<bool()> stop{};  // asked between trials
  bool shares_model = false;     // tasks ask one model, which learns only while nobody proposes
};

// How the parts of a task are made, when its first round comes.
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

  // An error of one task ends that task, and the loop when it has no other.
  Status run(LoopListener* listener = nullptr);

  const Scheduler& scheduler() const { return scheduler_; }
  const TaskTuner* tuner(size_t task) const;      // null: it had no round
  const std::string& problem(size_t task) const;  // why it could not go on, or empty
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
