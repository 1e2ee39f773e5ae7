#include "tune/tuning.h"

#include <gtest/gtest.h>

#include <vector>

#include "task/parse.h"

namespace tilewright::tune {
namespace {

std::vector<TunedTask> two_tasks() {
  const Target target = *parse_target("x86-64-v3;threads=1");
  std::vector<TunedTask> tasks;
  tasks.push_back({.task = {.workload = *parse_workload("matmul:m=16,n=16,k=16"), .target = target},
                   .weight = 1});
  tasks.push_back({.task = {.workload = *parse_workload("matmul:m=32,n=16,k=16"), .target = target},
                   .weight = 10});
  return tasks;
}

TEST(Tuning, WeightsOfTasksReachTheObjective) {
  const std::vector<TunedTask> tasks = two_tasks();
  Objective objective;
  objective.terms = terms_of(tasks, objective.kind);
  const double latency_ns[] = {100, 100};
  EXPECT_EQ(objective.goals(), 2U);
  EXPECT_DOUBLE_EQ(objective.value(latency_ns), 1100);
  EXPECT_DOUBLE_EQ(objective.slope(latency_ns, 1), 10 * objective.slope(latency_ns, 0));
}

TEST(Tuning, WeightsDecideWhichTaskIsNext) {
  const std::vector<TunedTask> tasks = two_tasks();
  Objective objective;
  objective.terms = terms_of(tasks, objective.kind);
  SchedulerOptions options;
  options.epsilon = 0;
  Scheduler scheduler({{.flop = 1e6, .group = {}}, {.flop = 1e6, .group = {}}}, objective, options,
                      1);
  std::vector<size_t> rounds(2);
  for (int round = 0; round < 12; ++round) {
    const std::optional<size_t> task = scheduler.next();
    ASSERT_TRUE(task);
    rounds[*task] += 1;
    scheduler.tell(*task, {.trials = 10, .best_ns = 1000.0 / static_cast<double>(rounds[*task])});
  }
  EXPECT_GT(rounds[1], rounds[0]);
}

TEST(Tuning, TargetsAreOfOneCallWhateverTheWeight) {
  Objective objective;
  objective.kind = ObjectiveKind::Targets;
  objective.targets_ns = {100, 100};
  objective.terms = terms_of(two_tasks(), objective.kind);
  const double met[] = {90, 90};
  const double missed[] = {90, 110};
  EXPECT_TRUE(objective.is_met(met));
  EXPECT_FALSE(objective.is_met(missed));
}

}  // namespace
}  // namespace tilewright::tune
