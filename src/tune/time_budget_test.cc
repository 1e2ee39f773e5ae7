#include "tune/time_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace tilewright::tune {
namespace {

const FinalsPlan kUsual{.contestants = 5, .rounds = 5, .round_ms = 40};

std::vector<Contestant> five(double prepare_s, double call_s) {
  return std::vector<Contestant>(5, {.prepare_s = prepare_s, .call_s = call_s});
}

TEST(PlanFinals, WithoutAnEndItIsTheUsual) {
  const FinalsPlan plan = plan_finals(five(0.02, 1e-3), kUsual, TimeBudget::kNoEnd);
  EXPECT_EQ(plan.contestants, 5U);
  EXPECT_EQ(plan.rounds, 5);
  EXPECT_EQ(plan.round_ms, 40);
  EXPECT_EQ(plan_finals(five(0.02, 1e-3), {.contestants = 9}, TimeBudget::kNoEnd).contestants, 5U);
}

TEST(PlanFinals, FillsTheTimeAndNoMore) {
  const std::vector<Contestant> quick = five(0.02, 1e-3);
  for (const double seconds : {0.4, 0.6, 1.0, 1.5, 2.5, 3.5}) {
    const FinalsPlan plan = plan_finals(quick, kUsual, seconds);
    EXPECT_EQ(plan.contestants, 5U) << seconds;
    EXPECT_NEAR(seconds_of(plan, quick), seconds, 1e-3);
  }
  EXPECT_EQ(plan_finals(quick, kUsual, 100).round_ms, 160);  // longer tells nothing more
}

TEST(PlanFinals, LittleTimeMeansFewerContestantsThenFewerRounds) {
  const FinalsPlan some = plan_finals(five(0.1, 1e-3), kUsual, 0.4);
  EXPECT_EQ(some.contestants, 3U);
  EXPECT_EQ(some.rounds, 5);
  const FinalsPlan slow = plan_finals(five(0.1, 0.2), kUsual, 2);
  EXPECT_EQ(slow.contestants, 2U);
  EXPECT_LT(slow.rounds, 5);
  const FinalsPlan least = plan_finals(five(0.1, 0.2), kUsual, 0);
  EXPECT_EQ(least.contestants, 2U);
  EXPECT_EQ(least.rounds, 3);
  EXPECT_EQ(plan_finals({}, kUsual, 1).contestants, 0U);
}

// A run by a clock of its own: trials until they are over, then the finals of each task, which
// take somewhat less or more than planned.
double run_of(double seconds, size_t tasks, double trial_s, const Contestant& like, Rng& rng) {
  double clock = 100;
  const TimeBudget budget(seconds, tasks, clock, [&] { return clock; });
  while (!budget.trials_are_over()) clock += trial_s * (0.5 + rng.uniform());
  const std::vector<Contestant> contestants(5, like);
  for (size_t task = 0; task < tasks; ++task) {
    const double share = budget.left_for_finals_s() / static_cast<double>(tasks - task);
    const double planned = seconds_of(plan_finals(contestants, kUsual, share), contestants);
    clock += planned * (0.8 + 0.3 * rng.uniform());
  }
  return budget.used_s() + 0.2;  // what is done afterwards
}

TEST(TimeBudget, SecondsAreKeptWithinFivePercent) {
  Rng rng(1);
  for (const double seconds : {10.0, 20.0, 60.0}) {
    for (const size_t tasks : {size_t{1}, size_t{3}}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        const double took = run_of(seconds, tasks, 0.03, {.prepare_s = 0.03, .call_s = 1e-3}, rng);
        EXPECT_NEAR(took, seconds, 0.05 * seconds) << tasks << " tasks";
        const double slow = run_of(seconds, tasks, 0.3, {.prepare_s = 0.05, .call_s = 0.06}, rng);
        EXPECT_NEAR(slow, seconds, 0.05 * seconds) << tasks << " slow tasks";
      }
    }
  }
}

TEST(TimeBudget, WithoutALimitItNeverEnds) {
  double clock = 0;
  const TimeBudget budget(0, 3, 0, [&] { return clock; });
  clock = 1e12;
  EXPECT_FALSE(budget.trials_are_over());
  EXPECT_TRUE(std::isinf(budget.left_s()));
  EXPECT_TRUE(std::isinf(budget.left_for_finals_s()));
  const TimeBudget ended(10, 1, 0, [&] { return clock; });
  EXPECT_TRUE(ended.trials_are_over());
  EXPECT_LT(ended.left_s(), 0);
  EXPECT_EQ(ended.left_for_finals_s(), 0);
}

}  // namespace
}  // namespace tilewright::tune
