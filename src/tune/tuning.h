// Tuning: what `tilewright tune` does, without its flags and its tables: tasks, a store and a
// budget in; verdicts in the store and the best schedule of each task out.
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

// Each task is a goal of its own, with its weight; but targets are of one call, whatever the
// weight.
std::vector<Part> parts_of(std::span<const TunedTask> tasks, ObjectiveKind kind);

struct TuningOptions {
  TaskTunerOptions search{};
  // Run: one model for all tasks, where there are several of one target and the model's encoding
  // compares across tasks; else each task has its own.
  ModelScope model_scope = ModelScope::Task;
  SchedulerOptions scheduler{};
  Objective objective{};              // without parts: each task is a goal of its own
  measure::MeasureOptions measure{};  // with `stop`, which ends all of it
  int64_t trials = 0;                 // of all tasks; 0: no limit
  bool force = false;                 // measure anew what has a verdict
  std::string command;                // for the store
  std::string version;
  FinalsPlan finals{.contestants = 5, .rounds = 5, .round_ms = 40};  // the default is one of them
};

struct TaskResult {
  size_t rounds = 0;
  size_t trials = 0;
  size_t measured = 0;  // of the trials: not answered from the store
  size_t borrowed = 0;  // programs of other tasks that its model began with
  TaskEnd end = TaskEnd::Open;
  std::string problem{};       // why it could not go on, or empty
  std::optional<Best> best{};  // of the trials
  std::optional<Trial> default_trial{};
  std::vector<StoredTrials::Final> finals{};  // fastest first; empty: not held
  bool finals_held = false;                   // now, and not known before

  // The winner: of the finals, else of the trials; null when nothing is valid.
  const Proposal* winner() const;
  const Trial* winning_trial() const;
  double default_ns() const;  // as comparable with the winner; 0: not known
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
  // The best of each task in turns with its default schedule, where there is time for it. `stop`
  // is asked between tasks; `left_s` says how long all that is left may take.
  Status hold_finals(const std::function<bool()>& stop = {},
                     const std::function<double()>& left_s = {});

  // An earlier run of the same search ended by itself with this budget or more: there is nothing to
  // run, and `recall` makes the results those of the store.
  bool is_done(const Budget& budget) const;
  Status recall();
  // Notes that this run has ended by itself.
  Status note_done(const Budget& budget);

  // How long the shortest finals of a task would take now.
  double shortest_finals_s(size_t task) const;

  size_t size() const;
  const TunedTask& task(size_t task) const;
  TaskResult result(size_t task) const;
  const Trajectory& trajectory() const;
  const TuningLoop& loop() const;
  bool shares_model() const;           // all tasks learn from each other
  LearningCost learning_cost() const;  // of all models

 private:
  struct Impl;
  explicit Tuning(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::tune
