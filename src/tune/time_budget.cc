#include "tune/time_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewright::tune {
namespace {

constexpr double kFinalsOfTask = 1.5;  // seconds
constexpr double kRoom = 1.5;          // times the shortest finals, for trials that end late
constexpr double kMinRoom = 1.2;
constexpr double kMaxForFinals = 0.25;  // share of the total time
// Seconds for the second peak measurement, tables and stopping workers.
constexpr double kAfterwards = 0.25;
constexpr double kShortestRoundMs = 4;
constexpr double kLongest = 4;  // multiple of the usual round
constexpr int kFewestRounds = 3;
constexpr double kOverhead = 0.01;  // seconds per contestant, for loading and warm-up

// One warm-up call, then calls until the time is over, at least one (measure/timing.h).
double turn_s(const Contestant& one, double round_ms) {
  const double round_s = round_ms * 1e-3;
  if (one.call_s <= 0) return round_s;
  return one.call_s * (1 + std::max(1.0, std::ceil(round_s / one.call_s)));
}

}  // namespace

TimeBudget::TimeBudget(double seconds, size_t tasks, double begin_s, std::function<double()> now)
    : seconds_(seconds > 0 ? seconds : kNoEnd),
      tasks_(static_cast<double>(tasks)),
      begin_s_(begin_s),
      now_(std::move(now)) {
  set_shortest_finals(0);
}

void TimeBudget::set_shortest_finals(double seconds) {
  if (std::isinf(seconds_)) return;
  const double max_finals_s = kMaxForFinals * seconds_;
  const double wanted = tasks_ * std::max(kFinalsOfTask, kRoom * seconds);
  const bool fit = kMinRoom * seconds <= max_finals_s - kAfterwards;
  finals_s_ = std::min(max_finals_s, fit ? wanted + kAfterwards : kAfterwards);
}

double TimeBudget::left_s() const { return seconds_ - used_s(); }

double TimeBudget::left_for_finals_s() const { return std::max(left_s() - kAfterwards, 0.0); }

double seconds_of(const FinalsPlan& plan, std::span<const Contestant> contestants) {
  double seconds = 0;
  for (const Contestant& one : contestants.first(plan.contestants)) {
    seconds += one.build_s + 2 * one.check_s + kOverhead + plan.rounds * turn_s(one, plan.round_ms);
  }
  return seconds;
}

FinalsPlan shortest_finals(std::span<const Contestant> contestants) {
  return {.contestants = std::min<size_t>(2, contestants.size()),
          .rounds = kFewestRounds,
          .round_ms = kShortestRoundMs};
}

FinalsPlan plan_finals(std::span<const Contestant> contestants, const FinalsPlan& usual,
                       double seconds) {
  FinalsPlan plan = usual;
  plan.contestants = std::min(usual.contestants, contestants.size());
  if (std::isinf(seconds)) return plan;
  const auto with_round = [&](double round_ms) {
    FinalsPlan other = plan;
    other.round_ms = round_ms;
    return other;
  };
  const auto fits = [&](const FinalsPlan& one) { return seconds_of(one, contestants) <= seconds; };
  const size_t fewest = std::min<size_t>(2, contestants.size());
  while (plan.contestants > fewest && !fits(with_round(kShortestRoundMs))) --plan.contestants;
  while (plan.rounds > kFewestRounds && !fits(with_round(kShortestRoundMs))) --plan.rounds;
  if (!fits(with_round(kShortestRoundMs))) {
    plan.contestants = 0;
    return plan;
  }
  // The longest round that fits; the cost grows with its length.
  double low = kShortestRoundMs, high = kLongest * usual.round_ms;
  if (fits(with_round(high))) return with_round(high);
  for (int step = 0; step < 30; ++step) {
    const double middle = 0.5 * (low + high);
    (fits(with_round(middle)) ? low : high) = middle;
  }
  plan.round_ms = low;
  const auto longer = [&] {
    FinalsPlan other = plan;
    other.rounds += 1;
    return other;
  };
  // Slow kernels: time that is too short for another call per turn may suffice for another round.
  while (plan.rounds < 2 * usual.rounds && fits(longer())) plan = longer();
  return plan;
}

}  // namespace tilewright::tune
