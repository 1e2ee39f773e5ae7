#include "app/tune.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <thread>

#include "app/bench.h"
#include "app/compile.h"
#include "app/replay.h"
#include "app/run_model.h"
#include "app/small_model_testing.h"
#include "base/must_testing.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOperator = "matmul:m=24,n=24,k=24";

// Counts the reported events, and requests a stop after some trials.
struct Counter : TuneListener {
  void on_trial(const TuneProgress& progress) override {
    ++trials;
    best_ns = progress.tally.best_ns;
    name = progress.tally.name;
    EXPECT_EQ(progress.tally.trials(), trials);
    EXPECT_GE(progress.elapsed_s, elapsed_s);
    EXPECT_GE(progress.left_s, 0);
    elapsed_s = progress.elapsed_s;
    if (trials == stop_after) stop.request();
  }
  void on_round(const TuneRound& round) override {
    ++rounds;
    in_rounds += round.trials.size();
    EXPECT_EQ(round.trials.size(), round.report.tried);
  }
  void on_search_end(const TuneProgress& /*progress*/) override { ++ends; }
  void on_model_finals(size_t count) override { libraries += count; }
  void on_model_finals_end() override { ++models; }

  StopSource stop;
  size_t stop_after = 0;  // 0: never
  size_t trials = 0, rounds = 0, in_rounds = 0, ends = 0, libraries = 0, models = 0;
  double best_ns = 0, elapsed_s = 0;
  std::string name;
};

TuneOptions options_of(const SmallModel& small) {
  return {.what = {kOperator},
          .target = {.target = {}, .threads = 1},
          .records = small.records(),
          .workers = kWorkers,
          .trials = 12};
}

TEST(Tune, NotifiesTheListenerOfEachTrialAndReturnsAWinner) {
  const SmallModel small;
  Counter counter;
  const auto outcome = tune(options_of(small), counter, counter.stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->status.has_value());
  EXPECT_EQ(outcome->tally.trials(), 12U);
  EXPECT_EQ(counter.trials, 12U);
  EXPECT_EQ(counter.in_rounds, 12U);
  EXPECT_GE(counter.rounds, 1U);
  EXPECT_EQ(counter.ends, 1U);
  EXPECT_GT(counter.best_ns, 0);
  ASSERT_EQ(outcome->rows.size(), 1U);
  EXPECT_EQ(counter.name, outcome->rows[0].name);
  EXPECT_THAT(counter.name, HasSubstr(kOperator));
  EXPECT_TRUE(outcome->has_winner());
  EXPECT_FALSE(outcome->stopped);
  EXPECT_FALSE(outcome->of_model);
  EXPECT_GT(outcome->peak_gflops, 0);
}

TEST(Tune, ASearchWithoutACompleteRoundIsASearch) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.trials = 3;
  Counter counter;
  const TuneRow row = must(tune(options, counter, {})).rows.at(0);
  EXPECT_EQ(row.result.rounds, 0U);
  EXPECT_EQ(row.result.trials, 3U);
  EXPECT_EQ(row.winner_was_carried(), false);
}

TEST(Tune, StopKeepsMeasurements) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.trials = 400;
  Counter counter;
  counter.stop_after = 5;
  const auto stopped = tune(options, counter, counter.stop.token());
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_TRUE(stopped->stopped);
  EXPECT_TRUE(stopped->status.has_value());
  EXPECT_GE(stopped->tally.measured, 5U);
  EXPECT_LT(stopped->tally.trials(), 400U);
  EXPECT_FALSE(stopped->resumed);

  options.trials = 12;  // the same search goes on in the same process
  Counter again;
  const auto resumed = tune(options, again, again.stop.token());
  ASSERT_TRUE(resumed.has_value()) << resumed.error().message;
  EXPECT_FALSE(resumed->stopped);
  EXPECT_TRUE(resumed->resumed);
  EXPECT_GE(resumed->tally.stored, 5U);
  EXPECT_EQ(resumed->tally.trials(), 12U);
}

// The workers have the built-in tables; only the key of the verdicts is of interest.
TEST(Tune, BackEndsHaveSeparateVerdictsAndTrajectories) {
  const SmallModel small;
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  const std::vector<codegen::BackEnd> reversed(all.rbegin(), all.rend());
  TuneOptions options = options_of(small);
  Counter counter;
  const auto first = tune(options, counter, {});
  ASSERT_TRUE(first.has_value()) << first.error().message;
  options.tables.back_ends = reversed;
  Counter other;
  const auto second = tune(options, other, {});
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_NE(second->trajectory, first->trajectory);
  EXPECT_FALSE(second->known);
  EXPECT_EQ(second->tally.stored, 0U);
  EXPECT_EQ(second->tally.measured, 12U);

  const auto replayed = replay({.id = first->rows.at(0).result.winning_trial()->attempt.hex(),
                                .records = small.records(),
                                .workers = kWorkers,
                                .tables = {.back_ends = reversed}},
                               {});
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_EQ(replayed->remarks,
            std::vector<std::string>{"it was compiled by the back end built-in, this is c"});
  EXPECT_EQ(replayed->now->attempt.protocol.back_end, "c");
}

TEST(Tune, EarlierStopMeasuresNothing) {
  const SmallModel small;
  Counter counter;
  counter.stop.request();
  const auto outcome = tune(options_of(small), counter, counter.stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->stopped);
  EXPECT_EQ(outcome->tally.trials(), 0U);
  EXPECT_FALSE(outcome->has_winner());
}

TEST(Tune, AWorkersFolderThatDoesNotExistIsAnErrorBeforeAStoreIsMade) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.workers = small / "nowhere";
  Counter counter;
  const auto outcome = tune(options, counter, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().kind, ErrorKind::Io);
  EXPECT_THAT(outcome.error().message, HasSubstr("there is no tilewright-build-worker"));
  EXPECT_THAT(outcome.error().message, HasSubstr("nowhere"));
  EXPECT_EQ(counter.trials, 0U);
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

TEST(Tune, OptionsThatContradictEachOtherAreErrors) {
  const SmallModel small;
  Counter counter;
  TuneOptions options = options_of(small);
  options.model_finals = false;
  EXPECT_THAT(tune(options, counter, {}).error().message, HasSubstr("there is none"));
  options = options_of(small);
  options.search = "guessing";
  EXPECT_THAT(tune(options, counter, {}).error().message, HasSubstr("guessing"));
  options = options_of(small);
  options.latency_targets_us = {1};
  EXPECT_THAT(tune(options, counter, {}).error().message, HasSubstr("targets"));
}

TEST(Tune, OptionsOutOfTheirRangeAreErrorsBeforeAStoreIsMade) {
  const SmallModel small;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto refused = [&](const std::function<void(TuneOptions*)>& change) {
    TuneOptions options = options_of(small);
    change(&options);
    Counter counter;
    const auto outcome = tune(options, counter, {});
    if (outcome) return std::string("it was tuned");
    EXPECT_EQ(outcome.error().kind, ErrorKind::BadInput);
    EXPECT_EQ(outcome.error().options.size(), 1U);
    return outcome.error().message;
  };
  for (const double seconds : {kNan, kInfinite, -kInfinite, -1.0, 0.05, 2e9}) {
    EXPECT_THAT(refused([&](auto* options) { options->seconds = seconds; }),
                HasSubstr("is not 0 or from 0.1 to 1000000000"))
        << seconds;
  }
  for (const int64_t number : {int64_t{-1}, kMaxTrials + 1}) {
    EXPECT_THAT(refused([&](auto* options) { options->trials = number; }),
                HasSubstr("is not from 0 to 1000000000"));
    EXPECT_THAT(refused([&](auto* options) { options->patience = number; }),
                HasSubstr("patience of "));
  }
  for (const size_t number : {size_t{0}, size_t{1}, kMaxLearnFrom + 1}) {
    EXPECT_THAT(refused([&](auto* options) { options->learn_from = number; }),
                HasSubstr("is not from 2 to 1000000"));
  }
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

TEST(Tune, UnwritableModelFileIsReportedFirst) {
  const SmallModel small;
  Counter counter;
  TuneOptions options = options_of(small);
  options.model_file = small / "some.model";
  options.cost = "xgboost:encoding=knobs";
  EXPECT_EQ(tune(options, counter, {}).error().message,
            "the cost model xgboost:encoding=knobs has no file; use xgboost or xgboost-squared");
  EXPECT_EQ(counter.trials, 0U);
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

TEST(Tune, NothingToTuneIsAnError) {
  const SmallModel small;
  Counter counter;
  TuneOptions options = options_of(small);
  options.what.clear();
  const auto outcome = tune(options, counter, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(outcome.error().message, HasSubstr("nothing to tune; name a model"));
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

TEST(Tune, TargetWithoutABackEndIsAnError) {
  const SmallModel small;
  Counter counter;
  TuneOptions options = options_of(small);
  options.target = {.target = "cuda:sm_90a", .threads = 0};
  const auto outcome = tune(options, counter, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(outcome.error().message, "no code is made for cuda:sm_90a yet; targets are x86-64");
}

// From a model file to a library with tuned kernels, all in this process.
TEST(Tune, AModelIsTunedComparedInsideAndCompiled) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.what = {small.model_file()};
  options.trials = 16;
  Counter counter;
  const auto tuned = tune(options, counter, counter.stop.token());
  ASSERT_TRUE(tuned.has_value()) << tuned.error().message;
  ASSERT_TRUE(tuned->of_model);
  ASSERT_EQ(tuned->in_models.size(), 1U);
  const ModelFinals& finals = tuned->in_models[0];
  EXPECT_TRUE(finals.held) << finals.why_not;
  EXPECT_EQ(finals.cut_short, "");
  EXPECT_GT(finals.after_ns, 0);
  EXPECT_EQ(counter.models, 1U);
  EXPECT_GE(counter.libraries, 1U);
  EXPECT_TRUE(tuned->rows[0].in_model.has_value());

  Counter none;
  const auto known = tune(options, none, none.stop.token());
  ASSERT_TRUE(known.has_value()) << known.error().message;
  EXPECT_TRUE(known->known);
  EXPECT_EQ(none.trials, 0U);
  EXPECT_TRUE(known->in_models.empty());  // nothing is new

  const std::string so = small / "small.so";
  struct Kernels : CompileListener {
    void on_kernel(size_t done, size_t all) override { finished = done == all; }
    bool finished = false;
  } kernels;
  const auto compiled = compile({.model = {.what = small.model_file()},
                                 .target = {.target = {}, .threads = 1},
                                 .records = small.records(),
                                 .output = so,
                                 .require_tuned = true},
                                kernels, {});
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
  EXPECT_TRUE(compiled->written);
  EXPECT_TRUE(kernels.finished);
  EXPECT_TRUE(compiled->untuned.empty());
  EXPECT_EQ(compiled->file_bytes, std::filesystem::file_size(so));

  const auto ran = run_model({.model = {.what = so}, .records = kNoRecords, .random_seed = 1}, {});
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_FALSE(ran->stopped);
  ASSERT_EQ(ran->outputs.size(), 1U);
  EXPECT_EQ(ran->outputs.front().name, "y");
  EXPECT_GE(ran->outputs.front().digest.low, 0);
}

// Seconds that were not used up are no budget that a run completed.
TEST(Tune, RunEndedByTrialsDoesNotCompleteItsSeconds) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.what = {small.model_file()};
  options.model_finals = false;
  options.trials = 8;
  options.seconds = 600;
  Counter first;
  ASSERT_TRUE(tune(options, first, {}).has_value());
  EXPECT_EQ(first.trials, 8U);
  Counter known;
  EXPECT_TRUE(tune(options, known, {})->known);

  options.seconds = 300;
  constexpr size_t kInFlight = 40;  // more than a stop leaves behind
  size_t stored = first.trials;
  for (const int64_t trials : {0, 5000}) {
    options.trials = trials;
    Counter more;
    more.stop_after = stored + kInFlight;
    const auto outcome = tune(options, more, more.stop.token());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_FALSE(outcome->known);
    EXPECT_GE(outcome->tally.measured, 1U);
    stored = outcome->tally.trials();
  }
}

TEST(Tune, RunEndedByTimeCompletesItsSeconds) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.what = {small.model_file()};
  options.model_finals = false;
  options.trials = 0;
  options.seconds = 1;
  Counter first;
  ASSERT_TRUE(tune(options, first, {}).has_value());
  Counter known;
  options.seconds = 0.5;
  EXPECT_TRUE(tune(options, known, {})->known);
  EXPECT_EQ(known.trials, 0U);
}

// The model is not in the store: the search is replayed for it, with the stored verdicts.
TEST(Tune, CompletedSearchWritesAModelFile) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.what = {small.model_file()};
  options.trials = 48;
  options.learn_from = 16;
  Counter first;
  ASSERT_TRUE(tune(options, first, {}).has_value());
  options.model_file = small / "small.model";
  Counter again;
  const auto outcome = tune(options, again, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->status.has_value());
  EXPECT_EQ(outcome->tally.measured, 0U);
  EXPECT_FALSE(outcome->nothing_learned);
  EXPECT_TRUE(std::filesystem::exists(options.model_file));
}

TEST(Tune, AStopDuringTheFinalsInsideAModelKeepsTheRecords) {
  const SmallModel small;
  TuneOptions options = options_of(small);
  options.what = {small.model_file()};
  struct Stopper : TuneListener {
    void on_model_finals(size_t /*libraries*/) override { stop.request(); }
    StopSource stop;
  } stopper;
  const auto outcome = tune(options, stopper, stopper.stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->stopped);
  for (const ModelFinals& one : outcome->in_models) EXPECT_FALSE(one.held);
  EXPECT_TRUE(outcome->has_winner());
}

TEST(Compile, RequiredRecordsThatAreMissingAreAnError) {
  const SmallModel small;
  CompileListener silent;
  CompileOptions options{.model = {.what = small.model_file()},
                         .records = small.records(),
                         .output = small / "small.so",
                         .require_tuned = true};
  const auto refused = compile(options, silent, {});
  ASSERT_TRUE(refused.has_value()) << refused.error().message;
  EXPECT_FALSE(refused->written);
  EXPECT_EQ(refused->untuned.size(), refused->kernels);
  EXPECT_FALSE(std::filesystem::exists(options.output));
  options.output = small / "small.exe";
  EXPECT_THAT(compile(options, silent, {}).error().message, HasSubstr("ends in .so"));
}

TEST(Compile, AStopLeavesNoFile) {
  const SmallModel small;
  struct Stopper : CompileListener {
    void on_kernel(size_t /*done*/, size_t all) override {
      ++kernels;
      of = all;
      stop.request();
    }
    StopSource stop;
    size_t kernels = 0, of = 0;
  } stopper;
  const std::string so = small / "small.so";
  const CompileOptions options{
      .model = {.what = small.model_file()}, .records = kNoRecords, .output = so};
  const auto stopped = compile(options, stopper, stopper.stop.token());
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_TRUE(stopped->stopped);
  EXPECT_FALSE(stopped->written);
  EXPECT_FALSE(std::filesystem::exists(so));
}

// LLVM, one of the two back ends for x86-64, requires AVX2. C source needs only the other one.
TEST(Compile, CSourceForEveryTargetOfTheBackEnd) {
  const SmallModel small;
  CompileListener silent;
  CompileOptions options{.model = {.what = small.model_file()},
                         .target = {.target = "x86-64-v2", .threads = 1},
                         .records = kNoRecords,
                         .output = small / "small.c"};
  const auto source = compile(options, silent, {});
  ASSERT_TRUE(source.has_value()) << source.error().message;
  EXPECT_TRUE(source->written);
  const Result<std::string> text = read_file(options.output);
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("tilewright_model"));
  options.output = small / "small.so";
  EXPECT_THAT(compile(options, silent, {}).error().message, HasSubstr("avx2"));
  options.output = small / "small.c";
  options.target = {.target = "cuda:sm_90a", .threads = 0};
  EXPECT_EQ(compile(options, silent, {}).error().message,
            "no code is made for cuda:sm_90a yet; targets are x86-64");
}

TEST(Bench, StopDuringCompilationEndsTheJob) {
  const SmallModel small;
  BenchListener silent;
  const StopSource stop;
  stop.request();
  const auto outcome =
      bench({.what = {small.model_file()}, .records = kNoRecords}, silent, stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->models.empty());
}

// The peers get the signal of Ctrl-C as well, and fail by it.
TEST(Bench, StopDuringPeersIsNotAnError) {
  const SmallModel small;
  const std::string python = small / "python", started = small / "started";
  ASSERT_TRUE(
      write_file_atomically(python, fmt::format("#!/bin/sh\n: > {}\nexec sleep 600\n", started))
          .has_value());
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const StopSource stop;
  const std::jthread interrupter([&](const std::stop_token& over) {
    while (!std::filesystem::exists(started) && !over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop.request();
  });
  BenchListener silent;
  const auto outcome = bench({.what = {small.model_file()},
                              .records = kNoRecords,
                              .seconds = 0.01,
                              .peers = {.peers = "onnxruntime",
                                        .harness = TILEWRIGHT_SOURCE_DIR "/bench",
                                        .python = python}},
                             silent, stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(std::filesystem::exists(started));
  EXPECT_EQ(outcome->models.size(), 1U);
  EXPECT_EQ(outcome->peers, "");
}

TEST(Bench, PeersNeedTheFolderOfTheHarness) {
  const SmallModel small;
  BenchOptions options{.what = {small.model_file()},
                       .records = kNoRecords,
                       .peers = {.peers = "onnxruntime", .python = "python3"}};
  const OptionHint hint{.option = "harness", .value = "FOLDER"};
  for (const std::string& folder : {std::string(), small / "bench"}) {
    options.peers.harness = folder;
    const Status status = check_bench(options);
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(status.error().message, HasSubstr("peers need the folder bench"));
    EXPECT_THAT(status.error().message, HasSubstr(folder));
    EXPECT_THAT(status.error().options, testing::ElementsAre(hint));
  }
  options.peers.harness = TILEWRIGHT_SOURCE_DIR "/bench";
  EXPECT_TRUE(check_bench(options).has_value());
}

TEST(Bench, NoModelsIsAnError) {
  BenchListener silent;
  const auto outcome = bench({}, silent, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(outcome.error().message, HasSubstr("nothing to time; name a model"));
}

TEST(Bench, ModelsAlternateUntilAStop) {
  const SmallModel small;
  CompileListener silent;
  const std::string so = small / "small.so";
  ASSERT_TRUE(compile({.model = {.what = small.model_file()},
                       .target = {.target = {}, .threads = 1},
                       .records = kNoRecords,
                       .output = so},
                      silent, {})
                  .has_value());
  struct Timed : BenchListener {
    void on_loaded(const std::string& /*what*/, size_t /*untuned*/) override { ++loaded; }
    void on_timed(const BenchedModel& /*model*/) override { ++timed; }
    int loaded = 0, timed = 0;
  } listener;
  const auto outcome = bench({.what = {so, so}, .seconds = 0.1}, listener, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  ASSERT_EQ(outcome->models.size(), 2U);
  EXPECT_EQ(listener.loaded, 2);
  EXPECT_EQ(listener.timed, 2);
  EXPECT_EQ(outcome->models[0].threads, 1);
  EXPECT_FALSE(outcome->models[1].timing.runs_ns.empty());
  const StopSource stop;
  stop.request();
  const auto stopped = bench({.what = {so}, .seconds = 1e6}, listener, stop.token());
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_EQ(stopped->models[0].timing.runs_ns.size(), 1U);
  EXPECT_THAT(bench({.what = {so, small.model_file()}}, listener, {}).error().message,
              HasSubstr("is not a compiled model"));
}

}  // namespace
}  // namespace tilewright::app
