#include "tune/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tilewright::tune {
namespace {

using ::testing::Each;
using ::testing::Ge;

constexpr int64_t kRound = 64;

// A task whose best latency falls from `start` towards `floor`, quickly or slowly.
struct Curve {
  double start_ns = 1e6, floor_ns = 1e6;
  double speed = 1;  // rounds to a factor of e of the excess: 1 / speed
  bool valid = true;
  int64_t candidates = 1'000'000;

  RoundOutcome outcome(size_t rounds_before) const {
    const auto rounds = static_cast<double>(rounds_before);
    const int64_t left = candidates - static_cast<int64_t>(rounds_before) * kRound;
    return {.trials = std::clamp<int64_t>(left, 0, kRound),
            .best_ns = valid ? floor_ns + (start_ns - floor_ns) * std::exp(-speed * rounds) : 0};
  }
};

std::vector<ScheduledTask> tasks_of(const std::vector<Curve>& curves) {
  return std::vector<ScheduledTask>(curves.size(), {.flop = 1e6, .group = {}});
}

Objective objective_of(ObjectiveKind kind, size_t tasks) {
  Objective objective;
  objective.kind = kind;
  objective.terms = separate_goals(tasks);
  return objective;
}

// Runs that number of rounds, or until the scheduler ends. Returns the chosen tasks.
std::vector<size_t> play(Scheduler& scheduler, const std::vector<Curve>& curves, int rounds) {
  std::vector<size_t> chosen;
  for (int k = 0; k < rounds; ++k) {
    const auto task = scheduler.next();
    if (!task) break;
    chosen.push_back(*task);
    scheduler.tell(*task, curves[*task].outcome(scheduler.state().tasks[*task].rounds()));
  }
  return chosen;
}

double value_after(ObjectiveKind kind, const std::vector<Curve>& curves, int rounds,
                   bool round_robin, uint64_t seed) {
  Objective objective = objective_of(kind, curves.size());
  if (kind == ObjectiveKind::Targets) {
    objective.targets_ns.assign(curves.size(), 2e5);
    objective.targets_ns[0] = 5e6;
  }
  if (kind == ObjectiveKind::Custom) {
    objective.custom = [](std::span<const double> latency) {
      return std::accumulate(latency.begin(), latency.end(), 0.0,
                             [](double sum, double x) { return sum + x * x; });
    };
  }
  SchedulerOptions options;
  options.round_robin = round_robin;
  Scheduler scheduler(tasks_of(curves), objective, options, seed);
  play(scheduler, curves, rounds);
  return objective.value(scheduler.latencies());
}

// Some tasks converge at once, some improve for many rounds, one is slow but cannot be improved.
std::vector<Curve> mixed_curves() {
  return {{.start_ns = 4e6, .floor_ns = 1e6, .speed = 0.1},
          {.start_ns = 2e6, .floor_ns = 1.9e6, .speed = 3},
          {.start_ns = 1e5, .floor_ns = 5e4, .speed = 2},
          {.start_ns = 3e6, .floor_ns = 5e5, .speed = 0.15},
          {.start_ns = 5e4, .floor_ns = 2e4, .speed = 1},
          {.start_ns = 8e5, .floor_ns = 7.9e5, .speed = 1}};
}

TEST(Scheduler, WarmsUpByOneRoundEach) {
  const auto curves = mixed_curves();
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, curves.size()), {}, 1);
  EXPECT_EQ(play(scheduler, curves, 6), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Scheduler, BeatsRoundRobinForEveryObjective) {
  for (const ObjectiveKind kind :
       {ObjectiveKind::Sum, ObjectiveKind::Targets, ObjectiveKind::GeometricMean,
        ObjectiveKind::EarlyStopping, ObjectiveKind::Custom}) {
    double gradient = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      gradient += value_after(kind, mixed_curves(), 40, false, seed) / 20;
    }
    EXPECT_LT(gradient, value_after(kind, mixed_curves(), 40, true, 1)) << text_of(kind);
  }
}

TEST(Scheduler, TasksThatFindNothingValidDoNotTakeTheBudget) {
  auto curves = mixed_curves();
  curves[1].valid = false;
  curves[4].valid = false;
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, curves.size()), {}, 3);
  const auto chosen = play(scheduler, curves, 300);
  EXPECT_EQ(chosen.size(), 300U);
  EXPECT_LE(std::ranges::count(chosen, 1U), 3);
  EXPECT_LE(std::ranges::count(chosen, 4U), 3);
}

TEST(Scheduler, EndsIfNoTaskHasAValidProgram) {
  std::vector<Curve> curves(3);
  for (Curve& curve : curves) curve.valid = false;
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, 3), {}, 1);
  EXPECT_EQ(play(scheduler, curves, 100).size(), 9U);
  for (const TaskProgress& task : scheduler.state().tasks) EXPECT_EQ(task.end, TaskEnd::Invalid);
}

TEST(Scheduler, ExhaustedTasksAndThoseOutOfPatienceAreDone) {
  std::vector<Curve> curves = {{.candidates = 130}, {.start_ns = 2e6, .speed = 0.5}};
  SchedulerOptions options;
  options.patience = 10 * kRound;
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, 2), options, 1);
  play(scheduler, curves, 1000);
  EXPECT_EQ(scheduler.state().tasks[0].end, TaskEnd::Exhausted);
  EXPECT_EQ(scheduler.state().tasks[0].trials, 130);
  EXPECT_EQ(scheduler.state().tasks[1].end, TaskEnd::Patience);
  // exp(-0.5 * 10) of the excess: then steps are below the noise.
  EXPECT_GT(scheduler.state().tasks[1].rounds(), 10U);
  EXPECT_LT(scheduler.state().tasks[1].rounds(), 40U);
}

// A patience takes the place of the objective's own number, also a longer one.
TEST(Scheduler, PatienceReplacesEarlyStopping) {
  const std::vector<Curve> curves = {{}};  // never improves after its first round
  for (const auto& [patience, trials] :
       {std::pair<int64_t, int64_t>{0, 256}, {64, 64}, {640, 640}}) {
    SchedulerOptions options;
    options.patience = patience;
    Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::EarlyStopping, 1), options,
                        1);
    play(scheduler, curves, 1000);
    const TaskProgress& task = scheduler.state().tasks[0];
    EXPECT_EQ(task.end, TaskEnd::Patience);
    EXPECT_GE(task.trials - task.improved_at, trials);
    EXPECT_LT(task.trials - task.improved_at, trials + kRound);
  }
}

TEST(Scheduler, StopsWhenAllTargetsAreMet) {
  const auto curves = mixed_curves();
  Objective objective = objective_of(ObjectiveKind::Targets, curves.size());
  objective.targets_ns.assign(curves.size(), 2.5e6);
  Scheduler scheduler(tasks_of(curves), objective, {}, 1);
  const auto chosen = play(scheduler, curves, 1000);
  EXPECT_LT(chosen.size(), 30U);
  EXPECT_THAT(scheduler.latencies(), Each(::testing::Le(2.5e6)));
  EXPECT_GT(std::ranges::count(chosen, 0U), 4);  // far from its target
  EXPECT_LE(std::ranges::count(chosen, 2U), 3);  // met at once
}

TEST(Scheduler, SmallStepsAddUp) {
  Scheduler scheduler({{.flop = 1, .group = {}}}, objective_of(ObjectiveKind::Sum, 1), {}, 1);
  for (const double best : {1000.0, 997.0, 994.0, 991.0}) {
    scheduler.tell(0, {.trials = kRound, .best_ns = best});
  }
  EXPECT_EQ(scheduler.state().tasks[0].best_ns, (std::vector<double>{1000, 1000, 994, 994}));
  EXPECT_EQ(scheduler.state().tasks[0].improved_at, 3 * kRound);
}

TEST(Scheduler, EpsilonVisitsUnpromisingTasks) {
  std::vector<Curve> curves = {{.start_ns = 1e9, .floor_ns = 1e8, .speed = 0.001},
                               {.start_ns = 10, .floor_ns = 10}};
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, 2), {}, 5);
  const auto chosen = play(scheduler, curves, 2000);
  const auto visits = std::ranges::count(chosen, 1U);
  EXPECT_GT(visits, 20);  // half of one in twenty: 50 expected
  EXPECT_LT(visits, 90);
}

TEST(Scheduler, SimilarTasksBoundTheGain) {
  // The same curve; but a relative of the second runs ten times faster for its FLOP.
  std::vector<ScheduledTask> tasks = {
      {.flop = 1e6, .group = "a"}, {.flop = 1e6, .group = "b"}, {.flop = 1e6, .group = "b"}};
  Scheduler scheduler(tasks, objective_of(ObjectiveKind::Sum, 3), {}, 1);
  for (int round = 0; round < 6; ++round) {
    scheduler.tell(0, {.trials = kRound, .best_ns = 1e6});
    scheduler.tell(1, {.trials = kRound, .best_ns = 1e6});
    scheduler.tell(2, {.trials = kRound, .best_ns = 1e5});
  }
  EXPECT_LT(scheduler.gradient(1), 2 * scheduler.gradient(0));
  // Many rounds later it is still slow, so it is less similar than assumed.
  for (int round = 0; round < 6; ++round) {
    scheduler.tell(1, {.trials = kRound, .best_ns = 1e6});
  }
  EXPECT_GT(scheduler.gradient(1), scheduler.gradient(0));
}

TEST(Scheduler, TheSameOutcomesGiveTheSameChoices) {
  const auto curves = mixed_curves();
  const auto choices = [&](uint64_t seed) {
    Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::GeometricMean, curves.size()),
                        {}, seed);
    return play(scheduler, curves, 60);
  };
  EXPECT_EQ(choices(7), choices(7));
  EXPECT_NE(choices(7), choices(8));
}

TEST(Scheduler, TasksInFlightAreNotGivenTwice) {
  const auto curves = mixed_curves();
  Scheduler scheduler(tasks_of(curves), objective_of(ObjectiveKind::Sum, curves.size()), {}, 1);
  play(scheduler, curves, 12);
  const auto first = scheduler.next();
  ASSERT_TRUE(first);
  for (int k = 0; k < 50; ++k) {
    const auto second = scheduler.next(std::vector{*first});
    ASSERT_TRUE(second);
    EXPECT_NE(*second, *first);
  }
}

TEST(Objective, SlopesAreDerivatives) {
  const std::vector<double> at = {3e5, 7e4, 9e6};
  for (const ObjectiveKind kind :
       {ObjectiveKind::Sum, ObjectiveKind::Targets, ObjectiveKind::GeometricMean}) {
    Objective objective = objective_of(kind, 3);
    objective.terms = {{.goal = 0, .task = 0, .weight = 3},
                       {.goal = 0, .task = 1, .weight = 1},
                       {.goal = 1, .task = 1, .weight = 2},
                       {.goal = 1, .task = 2, .weight = 5}};
    objective.targets_ns = {2e6, 1e6};
    objective.references_ns = {4e6, 8e7};
    for (size_t task = 0; task < 3; ++task) {
      std::vector<double> low = at, high = at;
      const double step = at[task] * 1e-5;
      low[task] -= step;
      high[task] += step;
      const double numeric = (objective.value(high) - objective.value(low)) / (2 * step);
      EXPECT_NEAR(objective.slope(at, task), numeric, std::abs(numeric) * 1e-6 + 1e-18)
          << text_of(kind) << " " << task;
      EXPECT_THAT(objective.slope(at, task), Ge(0));
    }
  }
}

TEST(Objective, StepOfNumericalDerivativesIsRelative) {
  // With a step of fixed size a latency of nanoseconds would become negative.
  Objective objective = objective_of(ObjectiveKind::Custom, 1);
  objective.custom = [](std::span<const double> latency) {
    EXPECT_GT(latency[0], 0);
    return std::log(latency[0]);
  };
  for (const double latency : {1e-3, 1.0, 1e9}) {
    EXPECT_NEAR(objective.slope(std::vector{latency}, 0) * latency, 1, 1e-2);
  }
}

}  // namespace
}  // namespace tilewright::tune
