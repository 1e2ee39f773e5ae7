// Tuning: searches schedules of tasks. Input: tasks, a store and a budget. Result: verdicts in the
// store, and the best schedule of each task.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/session.h"
#include "tune/objective.h"
#include "tune/scheduler.h"
#include "tune/stored_trials.h"
#include "tune/task_tuner.h"
#include "tune/tuning_loop.h"

namespace tilewright::tune {

struct TunedTask {
  Task task;
  double weight = 1;
};

// One goal per task, with its weight. Targets apply to one call, whatever the weight.
std::vector<GoalTerm> terms_of(std::span<const TunedTask> tasks, ObjectiveKind kind);

struct TuningOptions {
  TaskTunerOptions search{};
  // Run: one model for all tasks, if there are several of one target and the encoding of the model
  // compares across tasks. Otherwise one model per task.
  ModelScope model_scope = ModelScope::Task;
  SchedulerOptions scheduler{};
  Objective objective{};              // without terms: one goal per task
  measure::MeasureOptions measure{};  // its `stop` ends the whole run
  int64_t trials = 0;                 // of all tasks; 0: no limit
  bool force = false;                 // also measure programs with a stored verdict
  std::string command;                // stored with the run
  std::string version;
  // Including the default schedule.
  FinalsPlan finals{.contestants = 5, .rounds = 5, .round_ms = 40};
};

struct TaskResult {
  bool searched = false;  // in this run; false: not started, or the result is from the store
  size_t rounds = 0;
  size_t trials = 0;
  size_t measured = 0;             // number of trials not answered from the store
  size_t borrowed = 0;             // samples of other tasks that its model started with
  std::vector<Hash128> carried{};  // programs of similar tasks that it began with
  TaskEnd end = TaskEnd::Open;
  std::string problem{};       // why it could not continue; may be empty
  std::optional<Best> best{};  // fastest trial
  std::optional<Trial> default_trial{};
  std::vector<StoredTrials::Final> finals{};  // fastest first; empty: not held
  bool finals_held = false;                   // in this run; false: the result is from the store

  // The winner of the finals, or else the fastest trial; null if nothing is valid.
  const Proposal* winner() const;
  const Trial* winning_trial() const;
  double default_ns() const;  // comparable with the winner; 0: unknown
  bool began_with(const Hash128& program) const;
};

class Tuning {
 public:
  // `store` outlives it.
  static Result<Tuning> start(std::vector<TunedTask> tasks, record::Store& store,
                              const TuningOptions& options);
  Tuning(Tuning&&) noexcept;
  Tuning& operator=(Tuning&&) noexcept;
  ~Tuning();

  Status run(LoopListener* listener = nullptr);
  // Compares the best schedules of each task with its default schedule, interleaved, if there is
  // time. `stop` is polled between tasks; `left_s` returns the time left for all remaining finals.
  Status hold_finals(const std::function<bool()>& stop = {},
                     const std::function<double()>& left_s = {});

  // True if an earlier run of the same search completed this budget or more. Then there is nothing
  // to run, and `recall` loads the results from the store.
  bool is_done(const Budget& budget) const;
  Status recall();
  // Records the completed budget of this run: its trials as counted, and `seconds`, which is 0
  // unless time ended the search.
  Status note_done(double seconds);

  // Estimated duration of the shortest finals of a task.
  double shortest_finals_s(size_t task) const;

  size_t size() const;
  const TunedTask& task(size_t task) const;
  TaskResult result(size_t task) const;
  const Trajectory& trajectory() const;
  const TuningLoop& loop() const;
  bool shares_model() const;  // one model for all tasks
  // Why the tasks do not share a model although model_scope is Run; otherwise empty.
  const std::string& why_not_shared() const;
  LearningCost learning_cost() const;  // sum over all models

 private:
  struct Impl;
  explicit Tuning(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::tune
