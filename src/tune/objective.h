// Objective: the function of the best latency of each task that a run minimizes (Ansor, OSDI 2020,
// section 6.2). A goal is a network, which may share tasks with others, or a single operator.
//
//   Sum             f1 = sum over goals of L(goal), where L = sum of weight * latency
//   Targets         f2 = sum of max(L, target): a goal that meets its target no longer counts
//   GeometricMean   f3 = -(product of reference / L) ^ (1 / goals)
//   EarlyStopping   f4 = f1, without tasks that have stopped improving
//   Custom          any function of the latencies
//
// A value.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace tilewright::tune {

enum class ObjectiveKind : uint8_t { Sum, Targets, GeometricMean, EarlyStopping, Custom };
std::string_view text_of(ObjectiveKind kind);  // `sum`, `geometric_mean`

// The number of times that a task occurs in a goal.
struct GoalTerm {
  size_t goal = 0;
  size_t task = 0;
  double weight = 1;
};

struct Objective {
  ObjectiveKind kind = ObjectiveKind::Sum;
  std::vector<GoalTerm> terms{};
  std::vector<double> targets_ns{};     // per goal; for Targets
  std::vector<double> references_ns{};  // per goal; for GeometricMean; empty: 1 each
  int64_t early_stop = 256;  // trials without improvement, for EarlyStopping if no patience is set
  std::function<double(std::span<const double>)> custom{};  // function of the latencies per task

  size_t goals() const;
  double value(std::span<const double> latency_ns) const;
  // The derivative with respect to the latency of one task. Never negative for the built-in kinds.
  // For Custom it is numeric, with a step proportional to the latency.
  double slope(std::span<const double> latency_ns, size_t task) const;
  // Everything that decides the objective of `tasks` tasks. A custom function enters by its values
  // for fixed latencies.
  Hash128 hash(size_t tasks) const;
  // True if all Targets are met.
  bool is_met(std::span<const double> latency_ns) const;

 private:
  std::vector<double> sums(std::span<const double> latency_ns) const;  // per goal
};

// One goal per task.
std::vector<GoalTerm> separate_goals(size_t tasks);

}  // namespace tilewright::tune
