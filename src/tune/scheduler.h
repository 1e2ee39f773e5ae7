// Scheduler: which task gets the next round of trials (Ansor, OSDI 2020, section 6). After one
// round for each task it follows the gradient of the objective by the rounds spent on a task:
//
//   d f / d t_i  =  d f / d g_i * [ alpha * (g_i(t) - g_i(t - window)) / window
//                                 + (1 - alpha) * min(-g_i / t, beta * C_i / max V_k - g_i) ]
//
// g_i: best latency, t: rounds, C_i: FLOP, V_k: FLOP a second of the tasks similar to i. The task
// with the steepest descent is next; one time in twenty it is any. Tasks that found nothing valid
// wait for such a chance and are given up after a few; what has nothing new to try, or has not
// improved for long, is done. All of them together never take the budget from the others.
//
// Its state is a value: JSON and back is exact, and the same outcomes give the same choices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "tune/objective.h"

namespace tilewright::tune {

struct SchedulerOptions {
  double epsilon = 0.05;  // of the choices are random
  double alpha = 0.2;
  double beta = 2;
  int window = 3;        // rounds
  double noise = 0.005;  // an improvement by less is none
  int64_t patience = 0;  // trials without improvement after which a task is done; 0: never
  int invalid_rounds = 3;
  int group_rounds = 5;      // so many more than any other, and still slow: a task leaves its group
  bool round_robin = false;  // for comparison: no gradient
};

struct ScheduledTask {
  double flop = 0;
  std::string group;  // tasks with the same text are similar; empty: none is
};

enum class TaskEnd : uint8_t {
  Open,
  Exhausted,  // a round found nothing new to try
  Patience,   // no improvement for long
  Invalid,    // no valid schedule was found
};
std::string_view text_of(TaskEnd end);

struct TaskProgress {
  std::vector<double> best_ns{};  // after each round; 0: nothing valid yet
  int64_t trials = 0;
  int64_t improved_at = 0;  // trials after the round that improved it last
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
Json to_json(const SchedulerState& state);
Result<SchedulerState> scheduler_state_from_json(const Json& json);

// What one round of a task came to.
struct RoundOutcome {
  int64_t trials = 0;  // none: there was nothing new to try
  double best_ns = 0;  // of all rounds; 0: nothing valid
};

class Scheduler {
 public:
  Scheduler(std::vector<ScheduledTask> tasks, Objective objective, SchedulerOptions options,
            uint64_t seed);

  // The task to go on with, none when all are done. `busy` ones are in flight already.
  std::optional<size_t> next(std::span<const size_t> busy = {});
  void tell(size_t task, const RoundOutcome& outcome);

  const SchedulerState& state() const { return state_; }
  void restore(SchedulerState state);  // of the same tasks
  double gradient(size_t task) const;  // not positive but for odd objectives
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
