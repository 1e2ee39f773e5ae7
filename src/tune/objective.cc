#include "tune/objective.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace tilewright::tune {
namespace {

constexpr double kNumericStep = 1e-3;  // of the latency
// Latencies that a custom function is called with for its hash: from 1 us to 1 s.
constexpr int kProbes = 32;
constexpr uint64_t kProbeSeed = 23;
constexpr double kProbeNs = 1e3;
constexpr uint64_t kDoublings = 20;

double at_or(std::span<const double> values, size_t index, double otherwise) {
  return index < values.size() && values[index] > 0 ? values[index] : otherwise;
}

}  // namespace

std::string_view text_of(ObjectiveKind kind) {
  switch (kind) {
    case ObjectiveKind::Sum:
      return "sum";
    case ObjectiveKind::Targets:
      return "targets";
    case ObjectiveKind::GeometricMean:
      return "geometric_mean";
    case ObjectiveKind::EarlyStopping:
      return "early_stopping";
    case ObjectiveKind::Custom:
      return "custom";
  }
  return "unknown";
}

size_t Objective::goals() const {
  size_t goals = 0;
  for (const GoalTerm& term : terms) goals = std::max(goals, term.goal + 1);
  return goals;
}

std::vector<double> Objective::sums(std::span<const double> latency_ns) const {
  std::vector<double> sums(goals(), 0.0);
  for (const GoalTerm& term : terms) sums[term.goal] += term.weight * latency_ns[term.task];
  return sums;
}

double Objective::value(std::span<const double> latency_ns) const {
  if (kind == ObjectiveKind::Custom) {
    CHECK(custom != nullptr, "an objective of the user's without a function");
    return custom(latency_ns);
  }
  const std::vector<double> latencies = sums(latency_ns);
  double sum = 0;
  double log_sum = 0;
  for (size_t goal = 0; goal < latencies.size(); ++goal) {
    const double target = kind == ObjectiveKind::Targets ? at_or(targets_ns, goal, 0) : 0;
    sum += std::max(latencies[goal], target);
    if (latencies[goal] > 0) log_sum += std::log(at_or(references_ns, goal, 1) / latencies[goal]);
  }
  if (kind != ObjectiveKind::GeometricMean) return sum;
  return latencies.empty() ? 0 : -std::exp(log_sum / static_cast<double>(latencies.size()));
}

double Objective::slope(std::span<const double> latency_ns, size_t task) const {
  if (kind == ObjectiveKind::Custom) {
    std::vector<double> lower(latency_ns.begin(), latency_ns.end());
    const double step = kNumericStep * latency_ns[task];
    if (step <= 0) return 0;
    lower[task] -= step;
    return (value(latency_ns) - value(lower)) / step;
  }
  const std::vector<double> latencies = sums(latency_ns);
  const double mean = kind == ObjectiveKind::GeometricMean ? -value(latency_ns) : 0;
  double slope = 0;
  for (const GoalTerm& term : terms) {
    if (term.task != task) continue;
    const double latency = latencies[term.goal];
    if (kind == ObjectiveKind::GeometricMean) {
      const auto count = static_cast<double>(latencies.size());
      if (latency > 0) slope += mean / count * term.weight / latency;
    } else if (kind != ObjectiveKind::Targets || latency > at_or(targets_ns, term.goal, 0)) {
      slope += term.weight;
    }
  }
  return slope;
}

Hash128 Objective::hash(size_t tasks) const {
  Hasher hasher;
  const auto add = [&](double value) { hasher.add(std::bit_cast<uint64_t>(value)); };
  hasher.add_text(text_of(kind)).add_signed(early_stop).add(terms.size());
  for (const GoalTerm& term : terms) {
    hasher.add(term.goal).add(term.task);
    add(term.weight);
  }
  for (const auto* list : {&targets_ns, &references_ns}) {
    hasher.add(list->size());
    for (const double value : *list) add(value);
  }
  if (kind != ObjectiveKind::Custom) return hasher.finish();
  Rng rng(kProbeSeed);
  std::vector<double> latencies(tasks);
  for (int probe = 0; probe < kProbes; ++probe) {
    for (double& latency : latencies) {
      latency = kProbeNs * (1 + rng.uniform()) * static_cast<double>(1 << rng.below(kDoublings));
    }
    add(value(latencies));
  }
  return hasher.finish();
}

bool Objective::is_met(std::span<const double> latency_ns) const {
  if (kind != ObjectiveKind::Targets) return false;
  const std::vector<double> latencies = sums(latency_ns);
  for (size_t goal = 0; goal < latencies.size(); ++goal) {
    if (latencies[goal] > at_or(targets_ns, goal, 0)) return false;
  }
  return true;
}

std::vector<GoalTerm> separate_goals(size_t tasks) {
  std::vector<GoalTerm> terms(tasks);
  for (size_t task = 0; task < tasks; ++task) terms[task] = {.goal = task, .task = task};
  return terms;
}

}  // namespace tilewright::tune
