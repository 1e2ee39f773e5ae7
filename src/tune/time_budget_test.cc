#include "tune/time_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace tilewright::tune {
namespace {

const FinalsPlan kUsual{.contestants = 5, .rounds = 5, .round_ms = 40};

std::vector<Contestant> five(double build_s, double call_s) {
  return std::vector<Contestant>(5, {.build_s = build_s, .check_s = call_s, .call_s = call_s});
}

TEST(PlanFinals, WithoutALimitUsesDefaults) {
  const FinalsPlan plan = plan_finals(five(0.02, 1e-3), kUsual, TimeBudget::kNoEnd);
  EXPECT_EQ(plan.contestants, 5U);
  EXPECT_EQ(plan.rounds, 5);
  EXPECT_EQ(plan.round_ms, 40);
  EXPECT_EQ(plan_finals(five(0.02, 1e-3), {.contestants = 9}, TimeBudget::kNoEnd).contestants, 5U);
}

TEST(PlanFinals, FillsTheTime) {
  const std::vector<Contestant> quick = five(0.02, 1e-3);
  for (const double seconds : {0.4, 0.6, 1.0, 1.5, 2.5, 3.5}) {
    const FinalsPlan plan = plan_finals(quick, kUsual, seconds);
    EXPECT_EQ(plan.contestants, 5U) << seconds;
    EXPECT_LE(seconds_of(plan, quick), seconds);
    EXPECT_GT(seconds_of(plan, quick), seconds - 0.03);  // a call more a turn is too much
  }
  EXPECT_EQ(plan_finals(quick, kUsual, 100).round_ms, 160);  // longer tells nothing more
}

TEST(PlanFinals, LittleTimeMeansFewerContestantsThenFewerRounds) {
  const FinalsPlan some = plan_finals(five(0.1, 1e-3), kUsual, 0.4);
  EXPECT_EQ(some.contestants, 2U);
  EXPECT_EQ(some.rounds, 5);
  const std::vector<Contestant> slow = five(0.1, 0.2);
  const FinalsPlan fewer = plan_finals(slow, kUsual, 4);
  EXPECT_EQ(fewer.contestants, 2U);
  EXPECT_LT(fewer.rounds, 5);
  const double min_s = seconds_of(shortest_finals(slow), slow);
  EXPECT_NEAR(min_s, 2 * (0.1 + 2 * 0.2 + 3 * 2 * 0.2), 0.1);
  EXPECT_EQ(plan_finals(slow, kUsual, min_s + 0.001).contestants, 2U);
  EXPECT_EQ(plan_finals(slow, kUsual, min_s + 0.001).rounds, 3);
  EXPECT_EQ(plan_finals(slow, kUsual, min_s - 0.001).contestants, 0U);
  EXPECT_EQ(plan_finals({}, kUsual, 1).contestants, 0U);
}

// Finals as they are held: built, checked, in each turn a call that does not count and calls until
// the turn is over, checked again.
double finals_of(const FinalsPlan& plan, std::span<const Contestant> contestants) {
  double seconds = 0;
  for (const Contestant& one : contestants.first(plan.contestants)) {
    seconds += one.build_s + one.check_s;
    for (int round = 0; round < plan.rounds; ++round) {
      seconds += one.call_s;
      double turn = 0;
      do {
        turn += one.call_s;
      } while (turn < plan.round_ms * 1e-3);
      seconds += turn;
    }
    seconds += one.check_s;
  }
  return seconds;
}

// A run with a simulated clock: trials until they are over, then the finals of each task, which
// take somewhat less or more time than planned.
double run_of(double seconds, size_t tasks, double trial_s, const Contestant& like, Rng& rng) {
  double clock = 100;
  TimeBudget budget(seconds, tasks, clock, [&] { return clock; });
  const std::vector<Contestant> contestants(5, like);
  budget.set_shortest_finals(seconds_of(shortest_finals(contestants), contestants));
  while (!budget.trials_are_over()) clock += trial_s * (0.5 + rng.uniform());
  for (size_t task = 0; task < tasks; ++task) {
    const double share = budget.left_for_finals_s() / static_cast<double>(tasks - task);
    const FinalsPlan plan = plan_finals(contestants, kUsual, share);
    clock += finals_of(plan, contestants) * (0.95 + 0.1 * rng.uniform());
  }
  return budget.used_s() + 0.2;  // what is done afterwards
}

TEST(TimeBudget, SecondsAreKeptWithinFivePercent) {
  Rng rng(1);
  for (const double seconds : {10.0, 20.0, 60.0}) {
    for (const size_t tasks : {size_t{1}, size_t{3}}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        const Contestant quick{.build_s = 0.03, .check_s = 2e-3, .call_s = 1e-3};
        EXPECT_NEAR(run_of(seconds, tasks, 0.03, quick, rng), seconds, 0.05 * seconds)
            << tasks << " tasks";
        const Contestant slow{.build_s = 0.05, .check_s = 0.1, .call_s = 0.06};
        EXPECT_NEAR(run_of(seconds, tasks, 0.3, slow, rng), seconds, 0.05 * seconds)
            << tasks << " slow tasks";
      }
    }
  }
}

// Finals that do not fit their share are not held, and trials have the time.
TEST(TimeBudget, OverlongFinalsReturnTheirTime) {
  Rng rng(2);
  const Contestant slow{.build_s = 0.1, .check_s = 0.4, .call_s = 0.3};
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_NEAR(run_of(8, 1, 0.1, slow, rng), 8, 0.4);
  }
  double clock = 0;
  TimeBudget budget(8, 1, 0, [&] { return clock; });
  clock = 7;
  EXPECT_TRUE(budget.trials_are_over());
  budget.set_shortest_finals(5);
  EXPECT_FALSE(budget.trials_are_over());
  budget.set_shortest_finals(0.5);
  EXPECT_TRUE(budget.trials_are_over());
}

TEST(TimeBudget, TheStopOfASearchIsNotWithdrawn) {
  double clock = 0;
  TimeBudget budget(8, 1, 0, [&] { return clock; });
  EXPECT_FALSE(budget.trials_ended());
  clock = 7;
  EXPECT_TRUE(budget.trials_ended());
  budget.set_shortest_finals(5);  // they do not fit, so trials would have the time
  EXPECT_FALSE(budget.trials_are_over());
  EXPECT_TRUE(budget.trials_ended());
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
