// Scheduler: chooses the task of the next round of trials (Ansor, OSDI 2020, section 6). After one
// round for each task, it follows the gradient of the objective with respect to the rounds spent on
// a task:
//
//   d f / d t_i  =  d f / d g_i * [ alpha * (g_i(t) - g_i(t - window)) / window
//                                 + (1 - alpha) * min(-g_i / t, beta * C_i / max V_k - g_i) ]
//
// g_i: best latency, t: rounds, C_i: FLOP, V_k: FLOP per second of the tasks similar to i. The task
// with the steepest descent is next; one choice in twenty is random. A task without a valid
// schedule gets only random choices and is given up after a few rounds. A task with nothing new to
// try, or without improvement for long, is done. Such tasks never use up the budget of the others.
//
// The same outcomes give the same choices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/objective.h"

namespace tilewright::tune {

struct SchedulerOptions {
  double epsilon = 0.05;  // share of random choices
  double alpha = 0.2;
  double beta = 2;
  int window = 3;        // in rounds
  double noise = 0.005;  // a smaller relative improvement counts as none
  int64_t patience = 0;  // trials without improvement after which a task is done; 0: never
  int invalid_rounds = 3;
  // A task leaves its group if it has this many more rounds than any other and is still slow.
  int group_rounds = 5;
  bool round_robin = false;  // no gradient, for comparison
};

struct ScheduledTask {
  double flop = 0;
  std::string group;  // tasks with the same text are similar; empty: similar to none
};

enum class TaskEnd : uint8_t {
  Open,
  Exhausted,  // the last round found nothing new to try
  Patience,   // no improvement for long
  Invalid,    // no valid schedule was found
};
std::string_view text_of(TaskEnd end);

struct TaskProgress {
  std::vector<double> best_ns{};  // after each round; 0: nothing valid yet
  int64_t trials = 0;
  int64_t improved_at = 0;  // number of trials at the last improvement
  TaskEnd end = TaskEnd::Open;

  size_t rounds() const { return best_ns.size(); }
  double latency_ns() const { return best_ns.empty() ? 0 : best_ns.back(); }
  bool operator==(const TaskProgress&) const = default;
};

struct SchedulerState {
  uint64_t seed = 1;
  int64_t choices = 0;
  std::vector<TaskProgress> tasks{};

  bool operator==(const SchedulerState&) const = default;
};

// The outcome of one round of a task.
struct RoundOutcome {
  int64_t trials = 0;  // 0: there was nothing new to try
  double best_ns = 0;  // over all rounds; 0: nothing valid
};

class Scheduler {
 public:
  Scheduler(std::vector<ScheduledTask> tasks, Objective objective, SchedulerOptions options,
            uint64_t seed);

  // The task of the next round; empty when all are done. `busy` tasks have a round in flight.
  std::optional<size_t> next(std::span<const size_t> busy = {});
  void tell(size_t task, const RoundOutcome& outcome);

  const SchedulerState& state() const { return state_; }
  double gradient(size_t task) const;  // at most 0, except for unusual custom objectives
  std::vector<double> latencies() const;

 private:
  bool is_open(size_t task) const { return state_.tasks[task].end == TaskEnd::Open; }
  double best_rate_of_group(size_t task) const;
  bool has_left_group(size_t task) const;
  bool met() const;

  std::vector<ScheduledTask> tasks_;
  Objective objective_;
  SchedulerOptions options_;
  SchedulerState state_;
};

}  // namespace tilewright::tune
