#include "tune/scheduler.h"

#include <algorithm>

#include "base/rng.h"

namespace tilewright::tune {

std::string_view text_of(TaskEnd end) {
  switch (end) {
    case TaskEnd::Open:
      return "open";
    case TaskEnd::Exhausted:
      return "exhausted";
    case TaskEnd::Patience:
      return "patience";
    case TaskEnd::Invalid:
      return "invalid";
  }
  return "unknown";
}

Scheduler::Scheduler(std::vector<ScheduledTask> tasks, Objective objective,
                     SchedulerOptions options, uint64_t seed)
    : tasks_(std::move(tasks)), objective_(std::move(objective)), options_(options) {
  state_.seed = seed;
  state_.tasks.resize(tasks_.size());
}

std::vector<double> Scheduler::latencies() const {
  std::vector<double> latencies;
  latencies.reserve(state_.tasks.size());
  for (const TaskProgress& task : state_.tasks) latencies.push_back(task.latency_ns());
  return latencies;
}

bool Scheduler::met() const {
  const std::vector<double> all = latencies();
  return std::ranges::find(all, 0.0) == all.end() && objective_.is_met(all);
}

std::optional<size_t> Scheduler::next(std::span<const size_t> busy) {
  std::vector<size_t> open;
  for (size_t task = 0; task < tasks_.size(); ++task) {
    if (is_open(task) && std::ranges::find(busy, task) == busy.end()) open.push_back(task);
  }
  if (open.empty() || met()) return std::nullopt;
  // One generator per choice, so that its state need not be stored.
  Rng rng(state_.seed + 0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(++state_.choices));
  for (const size_t task : open) {
    if (state_.tasks[task].rounds() == 0) return task;
  }
  if (options_.round_robin) {
    return *std::ranges::min_element(
        open, {}, [&](size_t task) { return std::pair(state_.tasks[task].rounds(), task); });
  }
  if (rng.chance(options_.epsilon)) return open[rng.below(open.size())];
  std::vector<size_t> steepest;
  double min_slope = 0;
  for (const size_t task : open) {
    if (state_.tasks[task].latency_ns() <= 0) continue;  // gets only random choices
    const double slope = gradient(task);
    if (!steepest.empty() && slope > min_slope) continue;
    if (steepest.empty() || slope < min_slope) steepest.clear();
    min_slope = slope;
    steepest.push_back(task);
  }
  if (steepest.empty()) return open[rng.below(open.size())];
  return steepest[rng.below(steepest.size())];
}

void Scheduler::tell(size_t task, const RoundOutcome& outcome) {
  TaskProgress& progress = state_.tasks[task];
  const double before_ns = progress.latency_ns();
  const bool valid = outcome.best_ns > 0;
  const bool improved =
      valid && (before_ns <= 0 || outcome.best_ns < before_ns * (1 - options_.noise));
  progress.trials += outcome.trials;
  // An improvement below the noise is remembered but does not count: the history keeps the previous
  // value, so that small steps add up.
  progress.best_ns.push_back(improved || !valid ? outcome.best_ns : before_ns);
  if (improved) progress.improved_at = progress.trials;
  if (outcome.trials == 0) {
    progress.end = TaskEnd::Exhausted;
  } else if (!valid && progress.rounds() >= static_cast<size_t>(options_.invalid_rounds)) {
    progress.end = TaskEnd::Invalid;
  }
  int64_t patience = options_.patience;
  if (objective_.kind == ObjectiveKind::EarlyStopping && patience <= 0) {
    patience = objective_.early_stop;
  }
  if (is_open(task) && patience > 0 && progress.trials - progress.improved_at >= patience) {
    progress.end = TaskEnd::Patience;
  }
}

// A task that is slow despite many more rounds is not similar after all.
bool Scheduler::has_left_group(size_t task) const {
  const TaskProgress& self = state_.tasks[task];
  if (self.latency_ns() <= 0) return false;
  size_t others_rounds = 0;
  double best = 0;
  for (size_t other = 0; other < tasks_.size(); ++other) {
    if (other == task || tasks_[other].group != tasks_[task].group) continue;
    others_rounds = std::max(others_rounds, state_.tasks[other].rounds());
    const double latency = state_.tasks[other].latency_ns();
    if (latency > 0) best = std::max(best, tasks_[other].flop / latency);
  }
  return self.rounds() > others_rounds + static_cast<size_t>(options_.group_rounds) &&
         tasks_[task].flop / self.latency_ns() < best / options_.beta;
}

double Scheduler::best_rate_of_group(size_t task) const {
  double best = 0;
  if (tasks_[task].group.empty() || has_left_group(task)) return best;
  for (size_t other = 0; other < tasks_.size(); ++other) {
    const double latency = state_.tasks[other].latency_ns();
    if (tasks_[other].group != tasks_[task].group || latency <= 0) continue;
    best = std::max(best, tasks_[other].flop / latency);
  }
  return best;
}

double Scheduler::gradient(size_t task) const {
  const TaskProgress& progress = state_.tasks[task];
  const double latency = progress.latency_ns();
  if (latency <= 0) return 0;
  const size_t rounds = progress.rounds();

  // Its recent gain; over fewer rounds if there are no more.
  const size_t window = std::min(static_cast<size_t>(options_.window), rounds - 1);
  double backward = 0;
  if (window > 0) {
    const double before = progress.best_ns[rounds - 1 - window];
    if (before > 0) backward = (latency - before) / static_cast<double>(window);
  }
  // Its possible gain: as much again as so far, or what similar tasks reach.
  double forward = -latency / static_cast<double>(rounds);
  const double rate = best_rate_of_group(task);
  if (rate > 0) forward = std::min(forward, options_.beta * tasks_[task].flop / rate - latency);
  return objective_.slope(latencies(), task) *
         (options_.alpha * backward + (1 - options_.alpha) * forward);
}

}  // namespace tilewright::tune
