#include "tune/tuning_loop.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

#include "task/parse.h"
#include "tune/donors.h"
#include "tune/fake_trials_testing.h"

namespace tilewright::tune {
namespace {

const std::vector<std::string> kWorkloads = {"matmul:m=64,n=48,k=32", "matmul:m=32,n=32,k=64",
                                             "matmul:m=16,n=96,k=16"};

// Tasks with fake runners, and the order of the rounds they had.
struct FakeRun : LoopListener {
  explicit FakeRun(size_t count = 3) : trials(count) {}

  TuningLoop loop(LoopOptions options, SchedulerOptions scheduling = {}) {
    learner.reset();
    if (options.shares_model) {
      const TaskTunerOptions search;
      const Models models =
          make_models(search.cost, search.tables, task_of(0).target, detect_machine(), search.seed)
              .value();
      learner = std::make_shared<Learner>(models.learned, LearnerOptions{.tasks = trials.size()});
    }
    std::vector<ScheduledTask> scheduled(trials.size(), {.flop = 1e6, .group = {}});
    Objective objective;
    objective.kind = ObjectiveKind::GeometricMean;
    objective.terms = separate_goals(trials.size());
    LoopTasks tasks;
    tasks.count = trials.size();
    tasks.tuner = [this](size_t task) -> Result<TaskTuner> {
      if (task == bad_task) return fail(ErrorKind::Unsupported, "no such thing");
      TaskTunerOptions options;
      options.search = *options.tables.explorers.parse("evolution:population=64,generations=1");
      options.threads = 1;
      options.largest_round = 16;
      options.stop = search_stop;
      TaskTuner tuner =
          TRY(TaskTuner::make(task_of(task), detect_machine(), options, {}, {}, learner));
      if (carries) tuner.begin_with(TRY(donations_for(task)));
      return tuner;
    };
    tasks.runner = [this](size_t task) -> Result<TrialRunner*> { return &trials[task]; };
    return {std::move(tasks), Scheduler(std::move(scheduled), objective, scheduling, 1),
            std::move(options)};
  }

  // Of the other tasks of the loop, as Tuning has them.
  Result<std::vector<Donation>> donations_for(size_t task) {
    std::vector<Task> others;
    for (size_t k = 0; k < trials.size(); ++k) others.push_back(task_of(k));
    std::vector<Sibling> siblings;
    for (size_t k = 0; k < trials.size(); ++k) {
      const TaskTuner* const tuner = carries->tuner(k);
      if (k != task && tuner != nullptr) {
        siblings.push_back({.task = &others[k], .fastest = tuner->fastest()});
      }
    }
    return Donors(nullptr, {}, 0).donations_for(others[task], siblings);
  }

  static Task task_of(size_t task) {
    return {.workload = *parse_workload(kWorkloads[task]),
            .target = *parse_target("x86-64-v3;threads=1")};
  }

  void on_trial(size_t /*task*/, const Proposal& /*proposal*/, const Trial& trial) override {
    measured += trial.stored ? 0 : 1;
  }
  void on_round(size_t task, const RoundReport& report) override {
    rounds.push_back(task);
    models.push_back(report.model);
    carried.push_back(report.carried);
  }

  std::shared_ptr<Learner> learner;  // of the last loop that shares its model
  std::vector<std::string> models;   // that chose the proposals, by round
  std::vector<FakeTrials> trials;
  std::vector<size_t> rounds;
  std::vector<size_t> carried;          // by round
  const TuningLoop* carries = nullptr;  // its tasks begin with schedules of each other
  int64_t measured = 0;
  size_t bad_task = 99;
  std::function<bool()> search_stop{};  // of the searches, not of the loop
};

TEST(TuningLoop, SpendsTheBudgetExactly) {
  for (const int in_flight : {1, 2}) {
    FakeRun run;
    TuningLoop loop = run.loop({.trials = 150, .in_flight = in_flight});
    ASSERT_TRUE(loop.run(&run));
    EXPECT_EQ(loop.trials(), 150);
    EXPECT_EQ(run.measured, 150);
    EXPECT_EQ(run.rounds.size(), 10U);  // 9 of 16 and the rest
    for (size_t task = 0; task < 3; ++task) EXPECT_GE(run.trials[task].measured.size(), 16U);
  }
}

// A stop while a task proposes does not exhaust the task.
TEST(TuningLoop, WithdrawnStopEndsNoTask) {
  FakeRun run;
  const std::thread::id here = std::this_thread::get_id();
  run.search_stop = [&] { return std::this_thread::get_id() != here; };
  TuningLoop loop = run.loop({.trials = 400, .in_flight = 2});
  ASSERT_TRUE(loop.run(&run));
  for (const TaskProgress& task : loop.scheduler().state().tasks) {
    EXPECT_EQ(task.end, TaskEnd::Open);
  }
}

struct Rebuilt {
  bool shares_model = false;
  bool carries = false;
};

Status run_loop(FakeRun& run, const LoopOptions& options, const Rebuilt& how) {
  TuningLoop loop = run.loop(options);
  if (how.carries) run.carries = &loop;
  return loop.run(&run);
}

// What is trained on, and when, follows from the trajectory: also one model of all tasks is
// rebuilt, and so are the schedules that tasks begin with.
void expect_rebuilt_after_any_cut(const Rebuilt& how) {
  for (const int in_flight : {1, 2}) {
    const auto with = [&](int64_t trials) {
      return LoopOptions{
          .trials = trials, .in_flight = in_flight, .shares_model = how.shares_model};
    };
    FakeRun whole;
    ASSERT_TRUE(run_loop(whole, with(160), how));
    for (const int64_t cut : {5, 16, 20, 47, 48, 90, 144}) {
      FakeRun parts;
      ASSERT_TRUE(run_loop(parts, with(cut), how));
      EXPECT_EQ(parts.measured, cut);
      parts.rounds.clear();
      parts.models.clear();
      parts.carried.clear();
      ASSERT_TRUE(run_loop(parts, with(160), how));
      EXPECT_EQ(parts.measured, 160);
      EXPECT_EQ(parts.rounds, whole.rounds) << "cut after " << cut;
      EXPECT_EQ(parts.models, whole.models) << "cut after " << cut;
      EXPECT_EQ(parts.carried, whole.carried) << "cut after " << cut;
      for (size_t task = 0; task < 3; ++task) {
        ASSERT_EQ(parts.trials[task].verdicts.size(), whole.trials[task].verdicts.size());
        for (const auto& [program, trial] : whole.trials[task].verdicts) {
          EXPECT_TRUE(parts.trials[task].verdicts.contains(program));
        }
      }
      // Repeated: every verdict is known.
      const int64_t before = parts.measured;
      ASSERT_TRUE(run_loop(parts, with(160), how));
      EXPECT_EQ(parts.measured, before);
    }
  }
}

TEST(TuningLoop, IsRebuiltAfterAnyCut) { expect_rebuilt_after_any_cut({}); }

TEST(TuningLoop, IsRebuiltAfterAnyCutWhereTasksShareAModel) {
  expect_rebuilt_after_any_cut({.shares_model = true});
}

TEST(TuningLoop, IsRebuiltAfterAnyCutWhereTasksBeginWithSchedulesOfEachOther) {
  expect_rebuilt_after_any_cut({.carries = true});
}

// A task begins with the fastest schedules of the rounds that were complete when it was prepared:
// with two in flight, the round before does not count.
TEST(TuningLoop, TasksBeginWithTheFastestOfCompleteRounds) {
  FakeRun one, two;
  ASSERT_TRUE(run_loop(one, {.trials = 64, .in_flight = 1}, {.carries = true}));
  ASSERT_TRUE(run_loop(two, {.trials = 64, .in_flight = 2}, {.carries = true}));
  ASSERT_GE(one.carried.size(), 3U);
  ASSERT_GE(two.carried.size(), 3U);
  EXPECT_EQ(one.carried[0], 0U);
  EXPECT_GT(one.carried[1], 0U);
  EXPECT_LE(one.carried[1], kKeptFastest);
  EXPECT_GT(one.carried[2], one.carried[1]);  // of two siblings
  EXPECT_EQ(two.carried[0], 0U);
  EXPECT_EQ(two.carried[1], 0U);
  EXPECT_GT(two.carried[2], 0U);
  EXPECT_LE(two.carried[2], kKeptFastest);  // of the first alone
}

// Each round of any task teaches all of them, and the trainings are no more than the rounds.
TEST(TuningLoop, TasksWithASharedModelLearnFromEachOther) {
  FakeRun run;
  TuningLoop loop = run.loop({.trials = 288, .shares_model = true});
  ASSERT_TRUE(loop.run(&run));
  for (size_t task = 0; task < 3; ++task) {
    ASSERT_NE(loop.tuner(task), nullptr);
    EXPECT_EQ(loop.tuner(task)->learner(), run.learner.get());
  }
  EXPECT_GT(run.learner->cost().trainings, 3);
  EXPECT_LE(run.learner->cost().trainings, static_cast<int64_t>(run.rounds.size()));
  EXPECT_EQ(run.models.front(), "analytic");
  EXPECT_EQ(run.models.back(), "xgboost");
}

TEST(TuningLoop, EndsWhenPatienceIsExhausted) {
  FakeRun run(1);
  SchedulerOptions scheduling;
  scheduling.patience = 64;
  TuningLoop loop = run.loop({.trials = 100'000}, scheduling);
  ASSERT_TRUE(loop.run(&run));
  const TaskProgress& progress = loop.scheduler().state().tasks[0];
  EXPECT_EQ(progress.end, TaskEnd::Patience);
  EXPECT_GE(progress.trials - progress.improved_at, 64);
  EXPECT_LT(progress.trials - progress.improved_at, 64 + 16);
}

TEST(TuningLoop, EndsIfNothingIsValid) {
  FakeRun run;
  for (FakeTrials& trials : run.trials) trials.all_fail = true;
  TuningLoop loop = run.loop({.trials = 100'000});
  ASSERT_TRUE(loop.run(&run));
  EXPECT_EQ(run.rounds.size(), 9U);
  EXPECT_FALSE(loop.tuner(0)->best());
}

TEST(TuningLoop, FailingTaskDoesNotAffectOthers) {
  for (const int in_flight : {1, 2}) {
    FakeRun run;
    run.bad_task = 1;
    TuningLoop loop = run.loop({.trials = 96, .in_flight = in_flight});
    ASSERT_TRUE(loop.run(&run));
    EXPECT_EQ(loop.trials(), 96);
    EXPECT_EQ(loop.problem(1), "no such thing");
    EXPECT_EQ(loop.problem(0), "");
    EXPECT_TRUE(run.trials[1].measured.empty());
  }
  FakeRun alone(1);
  alone.bad_task = 0;
  EXPECT_FALSE(alone.loop({.trials = 96}).run(&alone));
}

TEST(TuningLoop, StopsBetweenTrials) {
  FakeRun run;
  bool stop = false;
  run.trials[1].left = 3;
  TuningLoop loop = run.loop({.trials = 1000, .stop = [&] { return stop; }});
  ASSERT_TRUE(loop.run(&run));  // task 1 answers only three: the loop ends there
  EXPECT_EQ(loop.trials(), 19);
  stop = true;
  ASSERT_TRUE(loop.run(&run));
  EXPECT_EQ(loop.trials(), 19);
}

}  // namespace
}  // namespace tilewright::tune
