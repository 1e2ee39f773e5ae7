// Objective: what a run over several tasks tries to make small, as a function of the best latency
// of each task (Ansor, OSDI 2020, section 6.2). Goals are what is to be fast: networks that share
// tasks, or operators that stand for themselves.
//
//   Sum             f1 = sum over goals of L(goal), where L = sum of weight * latency
//   Targets         f2 = sum of max(L, target): a goal that is fast enough counts no more
//   GeometricMean   f3 = -(product of reference / L) ^ (1 / goals)
//   EarlyStopping   f4 = f1, in which a task that has stopped improving counts no more
//   Custom          any function of the latencies
//
// A value.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tilewright::tune {

enum class ObjectiveKind : uint8_t { Sum, Targets, GeometricMean, EarlyStopping, Custom };
std::string_view text_of(ObjectiveKind kind);  // `sum`, `geometric_mean`

// So often a task is part of a goal.
struct Part {
  size_t goal = 0;
  size_t task = 0;
  double weight = 1;
};

struct Objective {
  ObjectiveKind kind = ObjectiveKind::Sum;
  std::vector<Part> parts{};
  std::vector<double> targets_ns{};     // by goal; Targets
  std::vector<double> references_ns{};  // by goal; GeometricMean; none: 1
  int64_t early_stop = 256;  // trials without improvement; EarlyStopping without a patience
  std::function<double(std::span<const double>)> custom{};  // of the latencies by task

  size_t goals() const;
  double value(std::span<const double> latency_ns) const;
  // The derivative by the latency of one task; never negative for the built-in ones. Numeric for
  // Custom, with a step in proportion to the latency.
  double slope(std::span<const double> latency_ns, size_t task) const;
  // Targets: all are met.
  bool is_met(std::span<const double> latency_ns) const;

 private:
  std::vector<double> sums(std::span<const double> latency_ns) const;  // by goal
};

// Each task is a goal of its own.
std::vector<Part> separate_goals(size_t tasks);
// All tasks are of one goal.
std::vector<Part> common_goal(std::span<const double> weights);

}  // namespace tilewright::tune
