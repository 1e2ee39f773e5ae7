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
#include "task/parse.h"
#include "tune/fake_trials_testing.h"

namespace tilewright::tune {
namespace {

Task small_task() {
  return {.workload = *parse_workload("matmul:m=64,n=48,k=32"),
          .target = *parse_target("x86-64-v3;threads=2")};
}

TaskTuner make_tuner(const TaskTunerOptions& options, std::span<const PastTrial> past = {}) {
  Result<TaskTuner> tuner = TaskTuner::make(small_task(), detect_machine(), options, past);
  if (!tuner) throw std::runtime_error(tuner.error().message);
  return std::move(*tuner);
}

RoundReport play(TaskTuner& tuner, TrialRunner& runner, size_t most = 1000) {
  Result<RoundReport> report = tuner.try_round(runner, most);
  if (!report) throw std::runtime_error(report.error().message);
  return *report;
}

Hash128 hash_for(const TaskTunerOptions& options) {
  const std::vector<Task> tasks = {small_task()};
  return hash_of(options, tasks, detect_machine()).value();
}

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

// Remembers what was asked for together.
struct CountingTrials : FakeTrials {
  Status run(std::span<const Proposal> proposals, const Report& report) override {
    asked.emplace_back();
    for (const Proposal& proposal : proposals) asked.back().push_back(proposal.program);
    return FakeTrials::run(proposals, report);
  }
  std::vector<std::vector<Hash128>> asked;
};

TEST(TaskTuner, TheDefaultIsTriedAlone) {
  TaskTuner tuner = make_tuner(quick_options());
  CountingTrials trials;
  play(tuner, trials);
  play(tuner, trials);
  ASSERT_EQ(trials.asked.size(), 3U);
  EXPECT_THAT(trials.asked[0], testing::ElementsAre(default_program()));
  EXPECT_EQ(trials.asked[1].size(), 23U);
  EXPECT_EQ(trials.asked[2].size(), 32U);
}

TEST(TaskTuner, WhereTheSpaceHasTheDefaultItIsNotProposedAgain) {
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
  double least = 1e30;
  for (const auto& [program, trial] : trials.verdicts) {
    if (trial.is_timed()) least = std::min(least, trial.latency_ns);
  }
  EXPECT_EQ(best, least);
}

TEST(TaskTuner, SameAnswersGiveTheSameSearchWhateverTheThreads) {
  TaskTunerOptions options = quick_options();
  FakeTrials first, second, other;
  {
    TaskTuner tuner = make_tuner(options);
    for (int round = 0; round < 3; ++round) play(tuner, first);
  }
  {
    options.threads = 2;
    options.keeps_memory = false;
    TaskTuner tuner = make_tuner(options);
    for (int round = 0; round < 3; ++round) play(tuner, second);
  }
  EXPECT_EQ(first.measured, second.measured);
  options.seed = 2;
  TaskTuner tuner = make_tuner(options);
  for (int round = 0; round < 3; ++round) play(tuner, other);
  EXPECT_NE(first.measured, other.measured);
}

TEST(TaskTuner, IsRebuiltFromTheAnswersWhereverItWasCut) {
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
    // Nothing twice, nothing else.
    std::vector<Hash128> expected = whole.measured, got = trials.measured;
    std::ranges::sort(expected);
    std::ranges::sort(got);
    EXPECT_EQ(got, expected) << "cut after " << cut;
  }
}

TEST(TaskTuner, AnEndedBudgetIsGoneOnWith) {
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

TEST(TaskTuner, StopsWhenAskedTo) {
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

// Nothing was assessed while it proposed, so an empty round does not mean that nothing is left.
TEST(TaskTuner, ARoundWhoseProposingSawAStopIsNeverComplete) {
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

TEST(TaskTuner, LearnsFromThePast) {
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
  EXPECT_EQ(plain.model()->name(), "analytic");
  EXPECT_EQ(warm.model()->name(), "xgboost");
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

TEST(TaskTuner, AGuessThatMisleadsDoesNotGuide) {
  TaskTuner led = make_tuner(quick_options());
  RankedTrials as_guessed(false);
  EXPECT_GT(play(led, as_guessed).quality->rank_correlation, 0.5);
  EXPECT_EQ(led.model()->name(), "analytic");
  TaskTuner misled = make_tuner(quick_options());
  RankedTrials reversed(true);
  EXPECT_LT(play(misled, reversed).quality->rank_correlation, -0.5);
  EXPECT_EQ(misled.model(), nullptr);
  EXPECT_EQ(play(misled, reversed).model, "none");
  EXPECT_EQ(misled.model()->name(), "xgboost");  // by now there are enough samples
  // Whoever asks for it has it.
  TaskTunerOptions asked = quick_options();
  asked.cost = {.name = "analytic"};
  TaskTuner analytic = make_tuner(asked);
  play(analytic, reversed);
  EXPECT_EQ(analytic.model()->name(), "analytic");
}

// Answers some programs with a given verdict.
struct FaultyTrials : CountingTrials {
  explicit FaultyTrials(record::VerdictKind kind) : verdict(kind) {}
  Status run(std::span<const Proposal> proposals, const Report& report) override {
    return CountingTrials::run(proposals, [&](size_t k, const Trial& trial) {
      const bool spared = asked.size() == 1 || proposals[k].program.low % 3 == 0;
      report(k, spared ? trial : Trial{.kind = verdict, .attempt = proposals[k].program});
    });
  }
  record::VerdictKind verdict;
};

// A fault of the machine is not a failure of a candidate: neither in what explorers are told nor in
// how good scores were.
TEST(TaskTuner, FaultsOfTheMachineAreToldToNobody) {
  TaskTunerOptions options = quick_options();
  options.cost = {.name = "none"};
  const auto second_round = [&](record::VerdictKind kind) {
    TaskTuner tuner = make_tuner(options);
    FaultyTrials trials(kind);
    play(tuner, trials);
    play(tuner, trials);
    return trials.asked.back();
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

TEST(TaskTuner, BeginsWithAModelOfAFile) {
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
  EXPECT_EQ(second.model()->name(), "xgboost");
  FakeTrials more;
  EXPECT_EQ(play(second, more).model, "xgboost");
  play(second, more);
  EXPECT_GT(trees_of(second), learned);
}

// Has a file and cannot go on learning from it.
class Rigid : public cost::CostModel {
 public:
  std::string_view name() const override { return "rigid"; }
  std::vector<std::string> encodings() const override { return {"features"}; }
  bool learns() const override { return true; }
  Status train(const cost::Samples&) override { return {}; }
  bool is_trained() const override { return true; }
  void predict(const feature::Inputs&, const cost::Predictions& out) const override {
    std::ranges::fill(out.mean, 0.0F);
  }
};

TEST(TaskTuner, AModelThatCannotForkBeginsWithNoFile) {
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
    for (const char* search : {"evolution:population=128,generations=2", "random", "beam"}) {
      TaskTunerOptions options = quick_options();
      options.cost = {.name = model.name};
      options.search = *options.tables.explorers.parse(search);
      options.largest_round = 8;
      TaskTuner tuner = make_tuner(options);
      FakeTrials trials;
      EXPECT_TRUE(play(tuner, trials).complete) << model.name << " " << search;
      EXPECT_EQ(play(tuner, trials).tried, 8U) << model.name << " " << search;
    }
  }
  EXPECT_EQ(cost::models().parse("best").error().message,
            "there is no cost model 'best'; there are xgboost, xgboost-squared, analytic, random, "
            "none");
  EXPECT_EQ(search::explorers().parse("").error().message,
            "there is no search ''; there are evolution, random, beam");
}

// A candidate is applied once, by the assessor, and its encodings are handed on.
TEST(TaskTuner, NothingIsAppliedAgainThatWasScored) {
  TaskTunerOptions options = quick_options();
  TaskTuner by_features = make_tuner(options);
  FakeTrials trials;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(play(by_features, trials).applied_again, 0U);
  ASSERT_TRUE(by_features.default_proposal());
  EXPECT_EQ(by_features.default_proposal()->program, default_program());
  // The analytic model reads features and guides first; the default schedule has its tree.
  options.cost = *options.tables.models.parse("xgboost:encoding=knobs");
  TaskTuner by_knobs = make_tuner(options);
  FakeTrials others;
  EXPECT_EQ(play(by_knobs, others).applied_again, 23U);
  EXPECT_EQ(play(by_knobs, others).applied_again, 32U);
  ASSERT_EQ(by_knobs.model()->name(), "xgboost");
  EXPECT_EQ(play(by_knobs, others).applied_again, 0U);
  // Nothing is encoded while nothing guides.
  options.cost = {.name = "none"};
  TaskTuner blind = make_tuner(options);
  FakeTrials more;
  EXPECT_EQ(play(blind, more).applied_again, 0U);
}

TEST(TaskTuner, SamplesSayWhereTheyWereMeasured) {
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

TEST(TaskTuner, LearnsFromOtherEncodings) {
  TaskTunerOptions options = quick_options();
  options.cost = *options.tables.models.parse("xgboost:encoding=knobs");
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  for (int round = 0; round < 2; ++round) play(tuner, trials);
  EXPECT_EQ(tuner.model()->name(), "xgboost");
  const cost::Samples& samples = tuner.samples();
  // The default schedule is of no sketch: it has no knobs.
  EXPECT_GE(samples.size() + 1, trials.measured.size());
  EXPECT_EQ(samples.inputs[0].rows(), samples.size());
  // From the traces that samples carry any other encoding can be made.
  const Task task = small_task();
  const Machine machine = detect_machine();
  const std::vector<std::string> both = {"knobs", "features"};
  auto encoder = feature::ProgramEncoder::make({.task = &task,
                                                .machine = &machine,
                                                .initial = &tuner.space().initial(),
                                                .sketches = tuner.space().sketches()},
                                               both);
  ASSERT_TRUE(encoder) << encoder.error().message;
  feature::Inputs again;
  for (const std::string& text : samples.trace) {
    ASSERT_TRUE(encoder->append(*schedule::trace_from_text(text), &again)) << text;
  }
  EXPECT_EQ(again[0], samples.inputs[0]);
  EXPECT_EQ(again[1].programs(), samples.size());
}

// One number per program.
class OneNumber : public feature::Encoder {
 public:
  explicit OneNumber(int version) : version_(version) {}
  size_t width() const override { return 1; }
  int version() const override { return version_; }
  bool compares_across_tasks() const override { return true; }

 private:
  bool do_append(const feature::ProgramView&, feature::Encoded* out) override {
    out->values.push_back(1);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
  int version_;
};

feature::EncodingRow one_number(int version) {
  return make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
      "one_number", "always 1", NoOptions{},
      [version](const feature::EncodingContext&, const NoOptions&) {
        return std::make_unique<OneNumber>(version);
      });
}

// 1 where the genome of the program is known, otherwise 0.
class HasGenome : public OneNumber {
 public:
  HasGenome() : OneNumber(1) {}

 private:
  bool do_append(const feature::ProgramView& program, feature::Encoded* out) override {
    const bool is_known =
        program.genome != nullptr && program.sketch != feature::ProgramView::kNoSketch;
    out->values.push_back(is_known ? 1 : 0);
    out->begin.push_back(out->begin.back() + 1);
    return true;
  }
};

// Whichever model chose it, a candidate is encoded by its own genome: several may have its trace.
TEST(TaskTuner, CandidatesAreEncodedByTheirGenome) {
  TaskTunerOptions options = quick_options();
  options.tables.encodings.add(
      make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
          "has_genome", "0 or 1", NoOptions{},
          [](const feature::EncodingContext&, const NoOptions&) {
            return std::make_unique<HasGenome>();
          }));
  options.cost = *options.tables.models.parse("xgboost:encoding=has_genome");
  TaskTuner tuner = make_tuner(options);
  FakeTrials trials;
  EXPECT_GT(play(tuner, trials).applied_again, 0U);  // the analytic model reads other numbers
  const std::vector<float>& values = tuner.samples().inputs[0].values;
  ASSERT_EQ(values.size(), 24U);
  EXPECT_EQ(std::ranges::count(values, 1), 23);  // the default schedule is of no sketch
}

TEST(TaskTuner, OptionsThatMatterAreInTheHash) {
  const auto changed = [](auto change) {
    TaskTunerOptions options;
    change(options);
    return hash_for(options);
  };
  const Hash128 plain = hash_for({});
  const auto encoded = [&](const char* cost, int version) {
    return changed([&](auto& o) {
      o.tables.encodings.add(one_number(version));
      o.cost = *o.tables.models.parse(cost);
    });
  };
  EXPECT_EQ(encoded("xgboost", 1), plain);  // it reads features
  EXPECT_EQ(encoded("xgboost:encoding=features:", 1), plain);
  EXPECT_EQ(encoded("xgboost", 2), plain);
  EXPECT_EQ(encoded("xgboost:encoding=one_number", 1), encoded("xgboost:encoding=one_number", 1));
  EXPECT_NE(encoded("xgboost:encoding=one_number", 1), encoded("xgboost:encoding=one_number", 2));
  EXPECT_EQ(changed([](auto& o) { o.threads = 7; }), plain);
  EXPECT_EQ(changed([](auto& o) { o.keeps_memory = false; }), plain);
  EXPECT_NE(changed([](auto& o) { o.seed = 7; }), plain);
  EXPECT_NE(changed([](auto& o) { o.space.off = {"pack"}; }), plain);
  const auto searched = [&](const char* text) {
    return changed([&](auto& o) { o.search = *o.tables.explorers.parse(text); });
  };
  EXPECT_EQ(searched("evolution:mutation=0.85"), plain);
  EXPECT_NE(searched("evolution:mutation=0.5"), plain);
  EXPECT_NE(searched("random"), plain);
  EXPECT_NE(changed([](auto& o) { o.cost = {.name = "none"}; }), plain);
  EXPECT_NE(changed([](auto& o) { o.cost.options = "depth=3"; }), plain);
  EXPECT_NE(changed([](auto& o) { o.largest_round = 10; }), plain);
  EXPECT_NE(changed([](auto& o) { o.max_samples = 10; }), plain);
}

}  // namespace
}  // namespace tilewright::tune
