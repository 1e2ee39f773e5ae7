#include "tune/time_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewright::tune {
namespace {

constexpr double kFinalsOfTask = 1.5;    // seconds
constexpr double kMostForFinals = 0.25;  // of all the time
constexpr double kAfterwards = 0.25;     // seconds: the peak again, tables, workers that end
constexpr double kShortestRoundMs = 4;
constexpr double kLongest = 4;  // times the usual round
constexpr int kFewestRounds = 3;
constexpr double kOverhead = 0.01;  // seconds a contestant: to load it and to warm up

double turn_s(const Contestant& one, double round_ms) {
  return std::max(round_ms * 1e-3, one.call_s);
}

}  // namespace

TimeBudget::TimeBudget(double seconds, size_t tasks, double begin_s, std::function<double()> now)
    : seconds_(seconds > 0 ? seconds : kNoEnd), begin_s_(begin_s), now_(std::move(now)) {
  const double wanted = kFinalsOfTask * static_cast<double>(tasks) + kAfterwards;
  finals_s_ = seconds > 0 ? std::min(kMostForFinals * seconds, wanted) : 0;
}

double TimeBudget::left_s() const { return seconds_ - used_s(); }

double TimeBudget::left_for_finals_s() const { return std::max(left_s() - kAfterwards, 0.0); }

double seconds_of(const FinalsPlan& plan, std::span<const Contestant> contestants) {
  double seconds = 0;
  for (const Contestant& one : contestants.first(plan.contestants)) {
    seconds += one.prepare_s + one.call_s + kOverhead + plan.rounds * turn_s(one, plan.round_ms);
  }
  return seconds;
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
  // The longest round that fits: what it takes grows with its length.
  double low = kShortestRoundMs, high = kLongest * usual.round_ms;
  if (fits(with_round(high))) return with_round(high);
  for (int step = 0; step < 30; ++step) {
    const double middle = 0.5 * (low + high);
    (fits(with_round(middle)) ? low : high) = middle;
  }
  return with_round(low);
}

}  // namespace tilewright::tune
