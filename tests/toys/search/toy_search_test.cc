// A toy explorer, encoding, model and template through the real search: each is its own files and a
// line of a table.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "app/tune.h"
#include "base/temporary_folder.h"
#include "feature/program_encoder.h"
#include "schedule/find_genome.h"
#include "space/random_trace.h"
#include "task/parse.h"
#include "toy_tables.h"
#include "tune/custom_parts.h"

namespace tilewright::toys {
namespace {

using tune::TaskTuner;
using tune::TaskTunerOptions;

Task small_task() {
  return {.workload = *parse_workload("matmul:m=64,n=64,k=32"),
          .target = *parse_target("x86-64-v3;threads=1")};
}

// The best program has 8 in the last factor of each split.
double latency_of(const schedule::Trace& trace) {
  double off = 0;
  for (const schedule::Step& step : trace.steps) {
    const auto* const split = std::get_if<schedule::Split>(&step);
    if (split == nullptr || split->factors.empty()) continue;
    const double doublings = std::log2(static_cast<double>(split->factors.back())) - 3;
    off += doublings * doublings;
  }
  return 1e4 * std::exp2(off / 4);
}

class SplitTrials : public tune::TrialRunner {
 public:
  Status run(std::span<const tune::Proposal> proposals, const Report& report) override {
    for (size_t k = 0; k < proposals.size(); ++k) {
      traces.push_back(proposals[k].trace);
      report(k, {.kind = record::VerdictKind::Timed,
                 .latency_ns = latency_of(proposals[k].trace),
                 .attempt = proposals[k].program});
    }
    return {};
  }
  std::vector<schedule::Trace> traces;
};

TaskTuner tuner_of(const TaskTunerOptions& options) {
  Result<TaskTuner> tuner = TaskTuner::make(small_task(), detect_machine(), options);
  CHECK(tuner.has_value(), "{}", tuner.error().message);
  return *std::move(tuner);
}

tune::RoundReport play(TaskTuner& tuner, tune::TrialRunner& runner, int rounds) {
  tune::RoundReport report;
  for (int k = 0; k < rounds; ++k) {
    Result<tune::RoundReport> one = tuner.try_round(runner, 1000);
    CHECK(one.has_value(), "{}", one.error().message);
    report = *one;
  }
  return report;
}

struct Stopper : app::TuneListener {
  explicit Stopper(size_t after) : after_(after) {}
  void on_trial(const app::TuneProgress&) override {
    if (++trials == after_) stop.request();
  }
  void on_round(const app::TuneRound& round) override { models.insert(round.report.model); }

  StopSource stop;
  size_t trials = 0;
  std::set<std::string> models;  // that guided

 private:
  size_t after_;
};

// All toys through the application.
app::TuneOptions tune_options(const TemporaryFolder& folder) {
  app::TuneOptions options{.what = {"matmul:m=64,n=64,k=32"},
                           .target = {.target = {}, .threads = 1},
                           .records = folder / "toy.db",
                           .workers = TILEWRIGHT_WORKERS,
                           .trials = 48,
                           .space = toy_space(),
                           .search = "climber:far=true",
                           .cost = "linear:ridge=0.01",
                           .learn_from = 16,
                           .search_tables = toy_tables()};
  options.space.from = *options.space.templates.parse("tiles");
  return options;
}

// Before the other tests: it starts a process, as long as this one has no threads.
TEST(ToySearch, AKilledSearchResumesWithTheVerdictsThatItReported) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-toy-").value();
  const app::TuneOptions options = tune_options(folder);
  struct Killer : app::TuneListener {
    void on_trial(const app::TuneProgress&) override {
      if (++trials == 29) std::raise(SIGKILL);  // in the second round
    }
    size_t trials = 0;
  };
  EXPECT_EXIT(
      {
        Killer killer;
        const auto outcome = app::tune(options, killer, {});
        std::exit(outcome.has_value() ? 1 : 2);
      },
      testing::KilledBySignal(SIGKILL), "");
  app::TuneListener silent;
  const auto resumed = app::tune(options, silent, {});
  ASSERT_TRUE(resumed.has_value()) << resumed.error().message;
  EXPECT_TRUE(resumed->resumed);
  EXPECT_EQ(resumed->tally.trials(), 48U);
  EXPECT_GE(resumed->tally.stored, 29U);
  EXPECT_EQ(resumed->tally.measured + resumed->tally.stored, 48U);
}

// A search that is interrupted resumes, and repeated it measures nothing.
TEST(ToySearch, IsTunedInterruptedAndResumedThroughTheApplication) {
  const TemporaryFolder folder = make_scratch_folder("tilewright-toy-").value();
  app::TuneOptions options = tune_options(folder);
  Stopper first(9), second(0), third(0);
  const auto interrupted = app::tune(options, first, first.stop.token());
  ASSERT_TRUE(interrupted.has_value()) << interrupted.error().message;
  EXPECT_TRUE(interrupted->stopped);
  EXPECT_LT(interrupted->tally.trials(), 48U);

  const auto resumed = app::tune(options, second, {});
  ASSERT_TRUE(resumed.has_value()) << resumed.error().message;
  EXPECT_TRUE(resumed->resumed);
  EXPECT_EQ(resumed->trajectory, interrupted->trajectory);
  EXPECT_EQ(resumed->tally.stored, interrupted->tally.measured);
  EXPECT_EQ(resumed->tally.trials(), 48U);
  EXPECT_TRUE(second.models.contains("linear"));
  EXPECT_TRUE(resumed->has_winner());

  const auto repeated = app::tune(options, third, {});
  ASSERT_TRUE(repeated.has_value()) << repeated.error().message;
  EXPECT_EQ(repeated->tally.measured, 0U);
  EXPECT_EQ(third.models, second.models);

  // Without the rows, the search is an error before a store is created.
  options.search_tables = {};
  options.records = folder / "none.db";
  EXPECT_EQ(app::tune(options, third, {}).error().message,
            "there is no cost model 'linear'; there are " + table_names(cost::models().entries()));
  options.cost = "xgboost";
  EXPECT_EQ(
      app::tune(options, third, {}).error().message,
      "there is no search 'climber'; there are " + table_names(search::explorers().entries()));
  EXPECT_FALSE(std::filesystem::exists(options.records));
}

TEST(ToySearch, ExplorerImproves) {
  TaskTunerOptions options = toy_options();
  options.search = *options.tables.explorers.parse("climber");
  options.cost = {.name = "none"};
  options.space.from = *options.space.templates.parse("tiles");
  TaskTuner tuner = tuner_of(options);
  SplitTrials trials;
  play(tuner, trials, 3);
  EXPECT_EQ(tuner.best()->trial.latency_ns, 1e4);  // the best of 2 * 7 * 7 * 6
}

TEST(ToySearch, TheModelLearnsFromItsEncoding) {
  TaskTunerOptions options = toy_options();
  options.cost = *options.tables.models.parse("linear:ridge=0.01");
  options.search = *options.tables.explorers.parse("evolution:population=128,generations=2");
  TaskTuner tuner = tuner_of(options);
  SplitTrials trials;
  play(tuner, trials, 2);
  ASSERT_EQ(tuner.model_name(), "linear");
  const cost::Samples& samples = tuner.samples();
  EXPECT_EQ(samples.inputs.at(0).width, 3U);
  // On programs it never saw.
  const Machine machine = detect_machine();
  const Task task = small_task();
  const std::vector<std::string> names = tuner.model()->encodings();
  auto encoder = feature::ProgramEncoder::make(
      {.task = &task, .machine = &machine, .initial = &tuner.space().initial(), .sketches = {}},
      names, options.tables.encodings);
  ASSERT_TRUE(encoder) << encoder.error().message;
  Rng rng(5);
  feature::Inputs inputs;
  std::vector<double> latency_ns;
  for (const schedule::Trace& trace : space::random_traces(task, 60, rng)) {
    ASSERT_TRUE(encoder->append(trace, &inputs));
    latency_ns.push_back(latency_of(trace));
  }
  const cost::Quality quality =
      cost::quality_of(cost::scores_of(*tuner.model(), inputs), latency_ns);
  EXPECT_GT(quality.rank_correlation, 0.9);
  // Its candidates are chosen by it.
  EXPECT_EQ(play(tuner, trials, 1).model, "linear");
}

TEST(ToySearch, TheTemplateIsTheSpace) {
  for (const search::ExplorerRow& row : search::explorers().rows()) {
    const std::string search = row.name == "evolution" ? "evolution:population=128,generations=2"
                               : row.name == "beam"    ? "beam:width=8"
                                                       : row.name;
    TaskTunerOptions options = toy_options();
    options.search = *options.tables.explorers.parse(search);
    options.space.from = *options.space.templates.parse("tiles:max_tile=16");
    TaskTuner tuner = tuner_of(options);
    ASSERT_EQ(tuner.space().sketches().size(), 1U);
    SplitTrials trials;
    play(tuner, trials, 2);
    ASSERT_GT(trials.traces.size(), 40U) << search;
    for (size_t k = 1; k < trials.traces.size(); ++k) {  // the first is the default schedule
      const auto genome = find_genome(tuner.space().sketches()[0], trials.traces[k]);
      EXPECT_TRUE(genome) << search << "\n" << to_text(trials.traces[k]);
    }
  }
  TaskTunerOptions options = toy_options();
  options.space.from = *options.space.templates.parse("tiles");
  EXPECT_EQ(TaskTuner::make({*parse_workload("softmax:m=32,n=32"), small_task().target},
                            detect_machine(), options)
                .error()
                .message,
            "the template tiles is for matrix products");
}

TEST(ToySearch, AllToysTogether) {
  TaskTunerOptions options = toy_options();
  options.search = *options.tables.explorers.parse("climber:far=true");
  options.cost = *options.tables.models.parse("linear");
  options.space.from = *options.space.templates.parse("tiles");
  TaskTuner tuner = tuner_of(options);
  SplitTrials trials;
  play(tuner, trials, 3);
  EXPECT_EQ(tuner.model_name(), "linear");
  EXPECT_EQ(tuner.best()->trial.latency_ns, 1e4);
}

class CustomParts : public testing::Test {
 protected:
  Hash128 hash_of(const TaskTunerOptions& options,
                  const std::vector<Task>& tasks = {small_task()}) {
    const auto hash = tune::hash_of_custom_parts(options, tasks, machine_);
    CHECK(hash.has_value(), "{}", hash.error().message);
    return *hash;
  }
  Machine machine_ = detect_machine();
};

TEST_F(CustomParts, BuiltInOnesHaveNoHash) {
  EXPECT_EQ(hash_of(toy_options()), Hash128{});
  TaskTunerOptions options = toy_options();
  options.search = {.name = "random"};
  options.cost = {.name = "analytic"};
  EXPECT_EQ(hash_of(options), Hash128{});
}

TEST_F(CustomParts, TemplateIsHashedByItsSketches) {
  const auto with = [&](const char* text) {
    TaskTunerOptions options = toy_options();
    options.space.from = *options.space.templates.parse(text);
    return hash_of(options);
  };
  EXPECT_NE(with("tiles"), Hash128{});
  EXPECT_EQ(with("tiles"), with("tiles"));
  EXPECT_NE(with("tiles"), with("tiles:max_tile=8"));
  EXPECT_EQ(with("tiles"), with("tiles:max_tile=128"));  // no axis is that long: the same sketches
}

TEST_F(CustomParts, TemplateIsTheSameHoweverItsOptionsAreWritten) {
  const auto with = [&](const char* text) {
    TaskTunerOptions options = toy_options();
    options.space.from = Selection{.name = "tiles", .options = text};
    const std::vector<Task> tasks = {small_task()};
    return tune::hash_of(options, tasks, machine_).value();
  };
  EXPECT_EQ(with("max_tile=8"), with("max_tile=08"));
  EXPECT_NE(with("max_tile=8"), with("max_tile=16"));
}

TEST_F(CustomParts, RuleIsHashedByItsSketches) {
  const auto with = [&](int64_t factor) {
    TaskTunerOptions options;
    options.space.custom.push_back(
        {.name = "mine",
         .what = "one split",
         .applies =
             [](const auto&, const auto&, space::StageName stage) {
               return stage.text() == "C" ? space::Applies::SkipTheRest : space::Applies::No;
             },
         .apply =
             [factor](const space::SpaceContext& context, const space::Draft& draft,
                      space::StageName stage) {
               space::Draft next = draft;
               schedule::Factors factors;
               factors.push_back(factor);
               next.sketch.trace.steps.emplace_back(
                   schedule::Split{.stage = stage, .loop = Name("i"), .factors = factors});
               next.done.push_back(stage);
               return std::vector<space::NextDraft>{
                   {std::move(next), space::previous_stage(context, stage)}};
             }});
    return hash_of(options);
  };
  EXPECT_NE(with(4), Hash128{});
  EXPECT_EQ(with(4), with(4));
  EXPECT_NE(with(4), with(8));
}

TEST_F(CustomParts, ModelIsHashedByItsPredictions) {
  const auto with = [&](float sign, const char* text) {
    TaskTunerOptions options;
    options.tables.encodings.add(toy_encoding());
    options.tables.models.add(toy_model(sign));
    options.cost = *options.tables.models.parse(text);
    return hash_of(options);
  };
  EXPECT_NE(with(1, "linear"), Hash128{});
  EXPECT_EQ(with(1, "linear"), with(1, "linear"));
  EXPECT_NE(with(1, "linear"), with(-1, "linear"));  // the same name
  EXPECT_NE(with(1, "linear"), with(1, "linear:ridge=100"));
  // A built-in model over a custom encoding is custom too.
  EXPECT_NE(with(1, "xgboost:encoding=splits"), Hash128{});
  EXPECT_EQ(with(1, "xgboost:encoding=knobs"), Hash128{});
}

TEST_F(CustomParts, ExplorerIsHashedByItsFirstProposals) {
  const auto with = [&](uint64_t salt) {
    TaskTunerOptions options;
    options.tables.explorers.add(toy_explorer(salt));
    options.search = *options.tables.explorers.parse("climber");
    return hash_of(options);
  };
  EXPECT_NE(with(0), Hash128{});
  EXPECT_EQ(with(0), with(0));
  EXPECT_NE(with(0), with(1));  // the same name and seed
}

// Both draw the same samples first.
TEST_F(CustomParts, ExplorerIsHashedByItsProposalsAfterResults) {
  const auto with = [&](const char* text) {
    TaskTunerOptions options;
    options.tables.explorers.add(toy_explorer());
    options.search = *options.tables.explorers.parse(text);
    return hash_of(options);
  };
  EXPECT_EQ(with("climber"), with("climber"));
  EXPECT_NE(with("climber"), with("climber:far=true"));
}

// Represents no program.
class Refusing : public feature::Encoder {
 public:
  size_t width() const override { return 1; }
  int version() const override { return 1; }
  bool compares_across_tasks() const override { return true; }

 private:
  bool do_append(const feature::ProgramView&, feature::Encoded*) override { return false; }
};

TEST_F(CustomParts, AModelThatReadsNoProgramIsAnError) {
  TaskTunerOptions options;
  options.tables.encodings.add(
      make_row<std::unique_ptr<feature::Encoder>, feature::EncodingContext>(
          "refusing", "nothing", NoOptions{},
          [](const feature::EncodingContext&, const NoOptions&) {
            return std::make_unique<Refusing>();
          }));
  options.cost = *options.tables.models.parse("xgboost:encoding=refusing");
  const std::vector<Task> tasks = {small_task()};
  const auto hash = tune::hash_of_custom_parts(options, tasks, machine_);
  ASSERT_FALSE(hash.has_value());
  EXPECT_EQ(
      hash.error().message,
      "the cost model xgboost:encoding=refusing can read no program of this run: its encodings "
      "represent none of 2000 random programs per task");
}

// A template may refuse some tasks, the first among them.
TEST_F(CustomParts, AreProbedOnTheFirstTaskThatHasASpace) {
  const Task refused{.workload = *parse_workload("softmax:m=32,n=32"),
                     .target = small_task().target};
  const auto with = [&](float sign, uint64_t salt) {
    TaskTunerOptions options;
    options.space.templates.add(toy_template());
    options.space.from = *options.space.templates.parse("tiles");
    options.tables.encodings.add(toy_encoding());
    options.tables.models.add(toy_model(sign));
    options.tables.explorers.add(toy_explorer(salt));
    options.cost = {.name = "linear"};
    options.search = {.name = "climber"};
    return hash_of(options, {refused, small_task()});
  };
  EXPECT_EQ(with(1, 0), with(1, 0));
  EXPECT_NE(with(1, 0), with(-1, 0));
  EXPECT_NE(with(1, 0), with(1, 1));
}

// A table of a caller has no built-in rows.
TEST_F(CustomParts, RowsOfTheCallersTableAreHashed) {
  const auto with = [&](uint64_t salt) {
    search::ExplorerRow row = toy_explorer(salt);
    row.name = "evolution";
    TaskTunerOptions options;
    options.tables.explorers = search::ExplorerTable("search", {std::move(row)});
    return hash_of(options);
  };
  EXPECT_NE(with(0), Hash128{});
  EXPECT_NE(with(0), with(1));
}

TEST(ToySearch, AModelWithoutItsEncodingIsAnError) {
  TaskTunerOptions options;
  options.tables.models.add(toy_model());
  options.cost = {.name = "linear"};
  EXPECT_EQ(TaskTuner::make(small_task(), detect_machine(), options).error().message,
            "linear: there is no encoding 'splits'; there are " +
                table_names(feature::encodings().entries()));
}

}  // namespace
}  // namespace tilewright::toys
