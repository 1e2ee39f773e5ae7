#include "tune/task_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cost/analytic.h"
#include "cost/model_file.h"
#include "feature/program_encoder.h"
#include "feature/rows.h"
#include "heuristic/default_trace.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "search/genome_hash.h"
#include "task/parse.h"
#include "tune/fake_trials_testing.h"

namespace tilewright::tune {
namespace {

Hash128 default_program() {
  const Task task = small_task();
  const auto trace = heuristic::default_trace(task.workload, task.target);
  const auto initial = schedule::initial_tree(task.workload);
  return program_hash(*schedule::apply_or_explain(*initial, *trace));
}

TEST(TaskTuner, TriesEachProgramOnceAndTheDefaultFirst) {
  TaskTuner tuner = make_tuner(quick_options());
  FakeTrials trials;
  for (int round = 0; round < 4; ++round) {
    const RoundReport report = play(tuner, trials);
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(report.proposed, round_size(static_cast<size_t>(round), 64));
    EXPECT_EQ(report.stored, 0U);
  }
  EXPECT_EQ(trials.measured.size(), 24U + 32 + 48 + 48);
  EXPECT_EQ(tuner.trials(), trials.measured.size());
  EXPECT_EQ(trials.verdicts.size(), trials.measured.size());
  EXPECT_TRUE(trials.verdicts.contains(default_program()));
  ASSERT_TRUE(tuner.default_trial());
  EXPECT_EQ(tuner.default_trial()->attempt, default_program());
  EXPECT_EQ(tuner.samples().size(), trials.measured.size());
}

// Records the proposals of each call.
struct CountingTrials : FakeTrials {
  Status run(std::span<const Proposal> proposals, const Report& report) override {
    proposed.emplace_back();
    for (const Proposal& proposal : proposals) proposed.back().push_back(proposal.program);
    return FakeTrials::run(proposals, report);
  }
  std::vector<std::vector<Hash128>> proposed;
};

TEST(TaskTuner, DefaultIsTheOnlyFirstTrial) {
  TaskTuner tuner = make_tuner(quick_options());
  CountingTrials trials;
  play(tuner, trials);
  play(tuner, trials);
  ASSERT_EQ(trials.proposed.size(), 3U);
  EXPECT_THAT(trials.proposed[0], testing::ElementsAre(default_program()));
  EXPECT_EQ(trials.proposed[1].size(), 23U);
  EXPECT_EQ(trials.proposed[2].size(), 32U);
}

TEST(TaskTuner, DefaultIsNotProposedAgain) {
  const Task task = {.workload = *parse_workload("matmul:m=1,n=1,k=1"),
                     .target = *parse_target("x86-64-v3;threads=2")};
  Result<TaskTuner> tuner = TaskTuner::make(task, detect_machine(), quick_options());
  ASSERT_TRUE(tuner);
  FakeTrials trials;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(play(*tuner, trials).stored, 0U);
  EXPECT_EQ(tuner->trials(), trials.verdicts.size());
}

TEST(TaskTuner, LearnsFromTheNewestOnly) {
  TaskTunerOptions options = quick_options();
  TaskTuner all = make_tuner(options);
  options.max_samples = 40;
  TaskTuner newest = make_tuner(options);
  FakeTrials first, second;
  for (int round = 0; round < 2; ++round) {
    play(all, first);
    play(newest, second);
  }
  const cost::Samples& whole = all.samples();
  const cost::Samples& cut = newest.samples();
  ASSERT_EQ(whole.size(), 56U);
  ASSERT_EQ(cut.size(), 40U);
  EXPECT_TRUE(std::ranges::equal(cut.latency_ns, std::span(whole.latency_ns).last(40)));
  EXPECT_EQ(cut.group.size(), 40U);
  feature::Inputs last;
  feature::append(whole.inputs, 16, 56, &last);
  EXPECT_EQ(cut.inputs, last);
  EXPECT_TRUE(std::ranges::equal(cut.trace, std::span(whole.trace).last(40)));
}

TEST(TaskTuner, NeverLosesAgainstTheDefault) {
  TaskTuner tuner = make_tuner(quick_options());
  FakeTrials trials;
  trials.given[default_program()] = 10;
  play(tuner, trials);
  play(tuner, trials);
  ASSERT_TRUE(tuner.best());
  EXPECT_EQ(tuner.best()->proposal.program, default_program());
  EXPECT_EQ(tuner.best()->trial.latency_ns, 10);
}

TEST(TaskTuner, TheBestIsTheFastestTimedOne) {
  TaskTuner tuner = make_tuner(quick_options());
  FakeTrials trials;
  play(tuner, trials);
  const double best = play(tuner, trials).best_ns;
  double min_ns = 1e30;
  for (const auto& [program, trial] : trials.verdicts) {
    if (trial.is_timed()) min_ns = std::min(min_ns, trial.latency_ns);
  }
  EXPECT_EQ(best, min_ns);
}

TEST(TaskTuner, IsDeterministicForAnyNumberOfThreads) {
  TaskTunerOptions options = quick_options();
  FakeTrials first, second, other;
  {
    TaskTuner tuner = make_tuner(options);
    for (int round = 0; round < 3; ++round) play(tuner, first);
  }
  {
    options.threads = 2;
    options.kept_bytes = 0;
    TaskTuner tuner = make_tuner(options);
    for (int round = 0; round < 3; ++round) play(tuner, second);
  }
  EXPECT_EQ(first.measured, second.measured);
  options.seed = 2;
  TaskTuner tuner = make_tuner(options);
  for (int round = 0; round < 3; ++round) play(tuner, other);
  EXPECT_NE(first.measured, other.measured);
}

TEST(TaskTuner, ReplayRebuildsTheStateAfterAnyInterruption) {
  FakeTrials whole;
  {
    TaskTuner tuner = make_tuner(quick_options());
    for (int round = 0; round < 4; ++round) play(tuner, whole);
  }
  for (const int64_t cut : {1, 23, 24, 30, 56, 100, 104, 151}) {
    FakeTrials trials;
    trials.left = cut;
    {
      TaskTuner tuner = make_tuner(quick_options());
      while (play(tuner, trials).complete) {
      }
    }
    EXPECT_EQ(trials.measured.size(), static_cast<size_t>(cut));
    trials.left = -1;
    TaskTuner tuner = make_tuner(quick_options());
    size_t stored = 0;
    for (int round = 0; round < 4; ++round) stored += play(tuner, trials).stored;
    EXPECT_EQ(stored, static_cast<size_t>(cut));
    // The same programs, each once.
    std::vector<Hash128> expected = whole.measured, got = trials.measured;
    std::ranges::sort(expected);
    std::ranges::sort(got);
    EXPECT_EQ(got, expected) << "cut after " << cut;
  }
}

TEST(TaskTuner, LargerBudgetContinuesTheSearch) {
  FakeTrials whole, parts;
  TaskTuner tuner = make_tuner(quick_options());
  play(tuner, whole);
  play(tuner, whole);
  {
    TaskTuner cut = make_tuner(quick_options());
    play(cut, parts);
    const RoundReport report = play(cut, parts, 10);
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(report.tried, 10U);
    EXPECT_EQ(cut.trials(), 34U);
  }
  TaskTuner again = make_tuner(quick_options());
  play(again, parts);
  EXPECT_EQ(play(again, parts).stored, 10U);
  EXPECT_EQ(parts.verdicts.size(), whole.verdicts.size());
  for (const auto& [program, trial] : whole.verdicts) {
    EXPECT_TRUE(parts.verdicts.contains(program));
  }
}

TEST(TaskTuner, StopsOnRequest) {
  TaskTunerOptions options = quick_options();
  bool stop = false;
  options.stop = [&] { return stop; };
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  EXPECT_TRUE(play(tuner, trials).complete);
  stop = true;
  const RoundReport report = play(tuner, trials);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.tried, 0U);
  EXPECT_EQ(trials.measured.size(), 24U);
}

// No candidate was assessed while it proposed, so an empty round does not mean an exhausted space.
TEST(TaskTuner, RoundInterruptedWhileProposingIsIncomplete) {
  TaskTunerOptions options = quick_options();
  bool stop = false;
  options.stop = [&] { return stop; };
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  EXPECT_TRUE(play(tuner, trials).complete);
  stop = true;
  tuner.propose();
  stop = false;
  for (int again = 0; again < 2; ++again) {
    const RoundReport report = play(tuner, trials);
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(report.proposed, 0U);
  }
  EXPECT_EQ(tuner.rounds(), 1U);
}

TEST(TaskTuner, LearnsFromStoredRecords) {
  FakeTrials trials;
  std::vector<PastTrial> past;
  {
    TaskTuner tuner = make_tuner(quick_options());
    for (int round = 0; round < 3; ++round) {
      const auto report = tuner.try_round(trials, 100, [&](const Proposal& p, const Trial& t) {
        past.push_back({.proposal = p, .trial = t});
      });
      ASSERT_TRUE(report);
    }
  }
  TaskTuner plain = make_tuner(quick_options());
  TaskTuner warm = make_tuner(quick_options(), past);
  EXPECT_EQ(warm.samples().size(), past.size());
  EXPECT_EQ(plain.model_name(), "analytic");
  EXPECT_EQ(warm.model_name(), "xgboost");
}

TEST(TaskTuner, RoundsNameTheSelectedModel) {
  for (const std::string name : {"xgboost", "xgboost-squared", "random", "none"}) {
    TaskTunerOptions options = quick_options();
    options.cost = {.name = name};
    TaskTuner tuner = make_tuner(options);
    FakeTrials trials;
    const bool learns = name.starts_with("xgboost");
    EXPECT_EQ(play(tuner, trials).model, learns ? "analytic" : name);
    play(tuner, trials);
    EXPECT_EQ(play(tuner, trials).model, name);
    EXPECT_EQ(tuner.model_name(), name);
  }
}

// Latencies as the analytic model would have them, or just the other way round.
class RankedTrials : public TrialRunner {
 public:
  explicit RankedTrials(bool reversed) : sign_(reversed ? 1 : -1) {}

  Status run(std::span<const Proposal> proposals, const Report& report) override {
    for (size_t k = 0; k < proposals.size(); ++k) {
      feature::Inputs rows(1);
      maker_.append(*schedule::apply_or_explain(initial_, proposals[k].trace), &rows[0]);
      const float score = cost::scores_of(*model_, rows)[0];
      report(k, {.kind = record::VerdictKind::Timed,
                 .latency_ns = 1e6 + sign_ * 1e5 * std::atan(score / 10),
                 .attempt = proposals[k].program});
    }
    return {};
  }

 private:
  double sign_;
  Task task_ = small_task();
  schedule::LoopTree initial_ = *schedule::initial_tree(task_.workload);
  feature::FeatureExtractor maker_{task_, detect_machine()};
  std::unique_ptr<cost::CostModel> model_ = cost::make_analytic(task_.target, detect_machine());
};

TEST(TaskTuner, MisleadingAnalyticModelIsDisabled) {
  TaskTuner led = make_tuner(quick_options());
  RankedTrials as_predicted(false);
  EXPECT_GT(play(led, as_predicted).quality->rank_correlation, 0.5);
  EXPECT_EQ(led.model_name(), "analytic");
  TaskTuner misled = make_tuner(quick_options());
  RankedTrials reversed(true);
  EXPECT_LT(play(misled, reversed).quality->rank_correlation, -0.5);
  EXPECT_EQ(misled.model(), nullptr);
  const RoundReport alone = play(misled, reversed);
  EXPECT_EQ(alone.model, "none");
  EXPECT_EQ(alone.applied_again, 0U);         // encoded for training, though nothing scored them
  EXPECT_EQ(misled.model_name(), "xgboost");  // by now there are enough samples
  // It guides if it is selected explicitly.
  TaskTunerOptions explicit_options = quick_options();
  explicit_options.cost = {.name = "analytic"};
  TaskTuner analytic = make_tuner(explicit_options);
  play(analytic, reversed);
  EXPECT_EQ(analytic.model_name(), "analytic");
}

// Answers some programs with a given verdict.
struct FaultyTrials : CountingTrials {
  explicit FaultyTrials(record::VerdictKind kind) : verdict(kind) {}
  Status run(std::span<const Proposal> proposals, const Report& report) override {
    return CountingTrials::run(proposals, [&](size_t k, const Trial& trial) {
      const bool spared = proposed.size() == 1 || proposals[k].program.low % 3 == 0;
      report(k, spared ? trial : Trial{.kind = verdict, .attempt = proposals[k].program});
    });
  }
  record::VerdictKind verdict;
};

// A fault of the machine is not a failure of a candidate: it is not reported to explorers and does
// not count in the quality of scores.
TEST(TaskTuner, MachineFailuresAreNotReported) {
  TaskTunerOptions options = quick_options();
  options.cost = {.name = "none"};
  const auto second_round = [&](record::VerdictKind kind) {
    TaskTuner tuner = make_tuner(options);
    FaultyTrials trials(kind);
    play(tuner, trials);
    play(tuner, trials);
    return trials.proposed.back();
  };
  using record::VerdictKind;
  EXPECT_EQ(second_round(VerdictKind::Crash), second_round(VerdictKind::WrongResult));
  EXPECT_NE(second_round(VerdictKind::Device), second_round(VerdictKind::WrongResult));

  TaskTuner tuner = make_tuner(quick_options());
  FaultyTrials trials(VerdictKind::Device);
  const RoundReport report = play(tuner, trials);
  EXPECT_TRUE(report.complete);
  EXPECT_LT(report.quality->programs, 20U);
  EXPECT_EQ(tuner.samples().size(), report.quality->programs + 1);  // the default
}

TEST(TaskTuner, StartsWithAModelFromAFile) {
  FakeTrials trials;
  TaskTuner first = make_tuner(quick_options());
  for (int round = 0; round < 3; ++round) play(first, trials);
  const auto trees_of = [](const TaskTuner& tuner) {
    const std::string text = tuner.model()->file_text().value();
    return cost::parse_model_file(text, "").value().forest.trees.size();
  };
  const size_t learned = trees_of(first);
  const TemporaryFolder folder = make_scratch_folder("tilewright-base-").value();
  const std::string path = folder / "base.model";
  ASSERT_TRUE(write_file_atomically(path, first.model()->file_text().value()));
  EXPECT_FALSE(load_base_model(path, {.name = "xgboost-squared"}));  // another loss
  EXPECT_FALSE(load_base_model(path, {.name = "analytic"}));
  Result<BaseModel> base = load_base_model(path, {.name = "xgboost"});
  ASSERT_TRUE(base) << base.error().message;

  TaskTunerOptions options = quick_options();
  const Hash128 plain = hash_for(options);
  options.base = std::make_shared<const BaseModel>(std::move(*base));
  EXPECT_NE(hash_for(options), plain);
  TaskTuner second = make_tuner(options);
  EXPECT_EQ(second.model_name(), "xgboost");
  FakeTrials more;
  EXPECT_EQ(play(second, more).model, "xgboost");
  play(second, more);
  EXPECT_GT(trees_of(second), learned);
}

// Has a file and cannot continue its training.
class Rigid : public cost::CostModel {
 public:
  std::vector<std::string> encodings() const override { return {"features"}; }
  bool learns() const override { return true; }
  Status train(const cost::Samples&) override { return {}; }
  bool is_trained() const override { return true; }
  void predict(const feature::Inputs&, const cost::Predictions& out) const override {
    std::ranges::fill(out.mean, 0.0F);
  }
};

TEST(TaskTuner, ModelThatCannotForkIsRejectedAsABase) {
  TaskTunerOptions options = quick_options();
  for (const bool is_null : {false, true}) {
    options.tables.models.add(make_row<std::unique_ptr<cost::CostModel>, cost::ModelContext>(
        is_null ? "nothing" : "rigid", "reads any file", NoOptions{},
        [is_null](const cost::ModelContext&, const NoOptions&) -> std::unique_ptr<cost::CostModel> {
          if (is_null) return nullptr;
          return std::make_unique<Rigid>();
        }));
  }
  const TemporaryFolder folder = make_scratch_folder("tilewright-rigid-").value();
  const std::string path = folder / "rigid.model";
  ASSERT_TRUE(write_file_atomically(path, "anything"));
  EXPECT_FALSE(load_base_model(path, {.name = "nothing"}, options.tables.models));
  options.cost = {.name = "rigid"};
  Result<BaseModel> base = load_base_model(path, options.cost, options.tables.models);
  ASSERT_TRUE(base) << base.error().message;
  options.base = std::make_shared<const BaseModel>(std::move(*base));
  const Result<TaskTuner> tuner = TaskTuner::make(small_task(), detect_machine(), options);
  ASSERT_FALSE(tuner);
  EXPECT_EQ(tuner.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(tuner.error().message, testing::HasSubstr("rigid"));
}

TEST(TaskTuner, EveryModelAndSearchWorks) {
  for (const cost::ModelRow& model : cost::models().rows()) {
    for (const search::ExplorerRow& row : search::explorers().rows()) {
      const std::string& search = row.name;
      TaskTunerOptions options = quick_options();
      options.cost = {.name = model.name};
      if (search != options.search.name) options.search = {.name = search};
      options.largest_round = 8;
      TaskTuner tuner = make_tuner(options);
      FakeTrials trials;
      EXPECT_TRUE(play(tuner, trials).complete) << model.name << " " << search;
      EXPECT_EQ(play(tuner, trials).tried, 8U) << model.name << " " << search;
    }
  }
  EXPECT_EQ(cost::models().parse("best").error().message,
            "there is no cost model 'best'; there are " + table_names(cost::models().entries()));
  EXPECT_EQ(search::explorers().parse("").error().message,
            "there is no search ''; there are " + table_names(search::explorers().entries()));
}

// A candidate is applied once, by the assessor, and its encodings are handed on.
TEST(TaskTuner, NoProgramIsAppliedAgain) {
  TaskTunerOptions options = quick_options();
  TaskTuner by_features = make_tuner(options);
  FakeTrials trials;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(play(by_features, trials).applied_again, 0U);
  ASSERT_TRUE(by_features.default_proposal());
  EXPECT_EQ(by_features.default_proposal()->program, default_program());
  // The analytic model reads features and guides first.
  options.cost = *options.tables.models.parse("xgboost:encoding=knobs");
  TaskTuner by_knobs = make_tuner(options);
  FakeTrials others;
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(play(by_knobs, others).applied_again, 0U) << round;
    ASSERT_EQ(by_knobs.model_name(), round == 0 ? "analytic" : "xgboost");
  }
  // Without a model that guides, no program is encoded.
  options.cost = {.name = "none"};
  TaskTuner blind = make_tuner(options);
  FakeTrials more;
  EXPECT_EQ(play(blind, more).applied_again, 0U);
}

TEST(TaskTuner, SamplesRecordTheirOrigin) {
  TaskTuner tuner = make_tuner(quick_options());
  FakeTrials trials;
  play(tuner, trials);
  const cost::Samples& samples = tuner.samples();
  ASSERT_GT(samples.size(), 0U);
  const cost::SampleOrigin& origin = samples.origins.at(samples.group.front());
  EXPECT_EQ(origin.task->key(), small_task().key());
  EXPECT_EQ(*origin.machine, detect_machine());
  EXPECT_EQ(origin.key, origin_of(small_task(), detect_machine()).key);
}

TEST(TaskTuner, OptionsThatMatterAreInTheHash) {
  const auto changed = [](auto change) {
    TaskTunerOptions options;
    change(options);
    return hash_for(options);
  };
  const Hash128 plain = hash_for({});
  EXPECT_EQ(changed([](auto& o) { o.threads = 7; }), plain);
  EXPECT_EQ(changed([](auto& o) { o.kept_bytes = 0; }), plain);
  EXPECT_NE(changed([](auto& o) { o.seed = 7; }), plain);
  EXPECT_NE(changed([](auto& o) { o.space.off = {"pack"}; }), plain);
  const auto searched = [&](const char* text) {
    return changed([&](auto& o) { o.search = *o.tables.explorers.parse(text); });
  };
  EXPECT_EQ(searched("evolution:mutation=0.85"), plain);
  EXPECT_NE(searched("evolution:mutation=0.5"), plain);
  EXPECT_NE(searched("random"), plain);
  const auto as_written = [&](const char* search_options, const char* cost_options) {
    return changed([&](auto& o) {
      o.search.options = search_options;
      o.cost.options = cost_options;
    });
  };
  EXPECT_EQ(as_written("mutation=0.850", "eta=0.250"), plain);
  EXPECT_EQ(as_written("mutation=0.50,population=100", ""),
            as_written("population=100,mutation=.5", ""));
  EXPECT_NE(as_written("mutation=0.50", ""), plain);
  EXPECT_NE(changed([](auto& o) { o.cost = {.name = "none"}; }), plain);
  EXPECT_NE(changed([](auto& o) { o.cost.options = "depth=3"; }), plain);
  EXPECT_NE(changed([](auto& o) { o.largest_round = 10; }), plain);
  EXPECT_NE(changed([](auto& o) { o.max_samples = 10; }), plain);
  EXPECT_NE(changed([](auto& o) { o.carry = false; }), plain);
  EXPECT_NE(changed([](auto& o) { o.warm_start = false; }), plain);
}

// Slow kernels have smaller rounds if time is the budget. The search of a fast one is the same
// whatever the budget is, so that its trajectory continues.
TEST(TaskTuner, RoundsOfSlowTasksAreSmallIfTimeIsTheBudget) {
  TaskTunerOptions trials, time;
  time.by_time = true;
  const auto task_of = [](const char* what) {
    return Task{.workload = *parse_workload(what), .target = *parse_target("x86-64-v3;threads=2")};
  };
  const auto sizes = [&](const char* what) {
    const Task task = task_of(what);
    EXPECT_EQ(largest_round_of(task, trials), 64U);
    return largest_round_of(task, time);
  };
  EXPECT_EQ(sizes("matmul:m=512,n=512,k=512"), 64U);     // 0.27 GFLOP
  EXPECT_EQ(sizes("matmul:m=1024,n=1024,k=512"), 37U);   // 1.1 GFLOP
  EXPECT_EQ(sizes("matmul:m=2048,n=2048,k=1024"), 8U);   // 8.6 GFLOP
  EXPECT_EQ(sizes("matmul:m=4096,n=4096,k=40960"), 8U);  // 1.4 TFLOP
  EXPECT_EQ(hash_for(time), hash_for(trials));
  const std::vector<Task> slow = {task_of("matmul:m=2048,n=2048,k=1024")};
  EXPECT_NE(hash_of(time, slow, detect_machine()).value(),
            hash_of(trials, slow, detect_machine()).value());
  // Many tasks share the seconds. The search of a fast one is still the same.
  const auto of_many = [&](const char* what, size_t tasks) {
    TaskTunerOptions many = time;
    many.tasks = tasks;
    return largest_round_of(task_of(what), many);
  };
  EXPECT_EQ(of_many("matmul:m=2048,n=2048,k=1024", 8), 8U);
  EXPECT_EQ(of_many("matmul:m=2048,n=2048,k=1024", 12), 5U);
  EXPECT_EQ(of_many("matmul:m=2048,n=2048,k=1024", 40), 4U);
  EXPECT_EQ(of_many("matmul:m=1024,n=1024,k=512", 40), 7U);
  EXPECT_EQ(of_many("matmul:m=512,n=512,k=512", 40), 64U);

  time.largest_round = 5;  // few trials for many tasks
  EXPECT_EQ(largest_round_of(slow[0], time), 5U);

  time.largest_round = 64;
  time.search = quick_options().search;
  Result<TaskTuner> tuner = TaskTuner::make(slow[0], detect_machine(), time);
  ASSERT_TRUE(tuner);
  FakeTrials fake;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(play(*tuner, fake).proposed, 8U);
}

}  // namespace
}  // namespace tilewright::tune
