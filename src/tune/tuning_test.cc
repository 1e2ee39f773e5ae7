#include "tune/tuning.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "record/record_testing.h"
#include "task/parse.h"

namespace tilewright::tune {
namespace {

using record::testing::ScratchFolder;

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

TEST(Tuning, LatencyTargetsArePerCall) {
  Objective objective;
  objective.kind = ObjectiveKind::Targets;
  objective.targets_ns = {100, 100};
  objective.terms = terms_of(two_tasks(), objective.kind);
  const double met[] = {90, 90};
  const double missed[] = {90, 110};
  EXPECT_TRUE(objective.is_met(met));
  EXPECT_FALSE(objective.is_met(missed));
}

// The key of the trajectory of these tasks.
Hash128 key_of(const TuningOptions& options) {
  const ScratchFolder folder;
  record::Store store = must(record::Store::open(folder / "a.db"));
  return must(Tuning::start(two_tasks(), store, options)).trajectory().key;
}

Hash128 key_with(const std::function<void(TuningOptions*)>& change) {
  TuningOptions options;
  change(&options);
  return key_of(options);
}

TEST(Tuning, KeyDependsOnSchedulerAndObjective) {
  const Hash128 plain = key_of({});
  EXPECT_EQ(key_of({}), plain);
  EXPECT_EQ(key_with([](auto* o) { o->trials = 1000; }), plain);
  EXPECT_NE(key_with([](auto* o) { o->scheduler.invalid_rounds = 7; }), plain);
  EXPECT_NE(key_with([](auto* o) { o->scheduler.group_rounds = 7; }), plain);
  EXPECT_NE(key_with([](auto* o) {
              o->objective.terms = {{.goal = 0, .task = 0, .weight = 1},
                                    {.goal = 0, .task = 1, .weight = 10}};
            }),
            plain);
  EXPECT_NE(key_with([](auto* o) { o->objective.references_ns = {1, 2}; }), plain);
  EXPECT_NE(key_with([](auto* o) { o->objective.targets_ns = {1, 2}; }), plain);
}

TEST(Tuning, ReportsWhyTasksShareNoModel) {
  const auto why = [](std::string_view cost, ModelScope scope, size_t tasks) {
    const ScratchFolder folder;
    record::Store store = must(record::Store::open(folder / "a.db"));
    TuningOptions options;
    options.model_scope = scope;
    options.search.cost = must(options.search.tables.parse_model(cost));
    std::vector<TunedTask> all = two_tasks();
    all.resize(tasks);
    const Tuning tuning = must(Tuning::start(std::move(all), store, options));
    EXPECT_EQ(tuning.shares_model(),
              scope == ModelScope::Run && tasks > 1 && tuning.why_not_shared().empty());
    return tuning.why_not_shared();
  };
  EXPECT_EQ(why("xgboost", ModelScope::Run, 2), "");
  EXPECT_EQ(why("xgboost:encoding=knobs", ModelScope::Run, 2),
            "its encoding of a program has a meaning within one task only");
  EXPECT_EQ(why("analytic", ModelScope::Run, 2), "the cost model does not learn");
  EXPECT_EQ(why("xgboost:encoding=knobs", ModelScope::Run, 1), "");
  EXPECT_EQ(why("xgboost:encoding=knobs", ModelScope::Task, 2), "");
}

TEST(Tuning, ACustomObjectiveIsInTheKeyByItsValues) {
  const auto with = [](double weight) {
    return key_with([weight](auto* o) {
      o->objective.kind = ObjectiveKind::Custom;
      o->objective.custom = [weight](std::span<const double> ns) { return ns[0] + weight * ns[1]; };
    });
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
}

}  // namespace
}  // namespace tilewright::tune
