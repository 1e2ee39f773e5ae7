#include "app/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/explain.h"
#include "app/replay.h"
#include "app/small_model_testing.h"

namespace tilewright::app {
namespace {

using ::testing::HasSubstr;

struct Listener : MeasureListener {
  void on_start(double /*flop*/) override { ++starts; }
  void on_answer(const MeasureTally& tally, const measure::Answer& answer,
                 double /*elapsed_s*/) override {
    last = answer.attempt_id;
    if (tally.answered() == stop_after) stop.request();
  }
  void on_measured(const MeasureTally& /*tally*/, double /*elapsed_s*/) override { ++ends; }
  void on_finals() override { ++finals; }

  StopSource stop;
  size_t stop_after = 0;
  Hash128 last;
  int starts = 0, ends = 0, finals = 0;
};

MeasureOptions options_of(const SmallModel& small) {
  return {.what = "matmul:m=16,n=16,k=16",
          .random = 6,
          .records = small.records(),
          .target = {.target = {}, .threads = 1},
          .workers = kWorkers,
          .finalists = 2};
}

measure::Answer final_of(uint64_t program, record::VerdictKind kind, double latency_ns) {
  measure::Answer answer;
  answer.attempt.program = {program, 7};
  answer.attempt.verdict = {.kind = kind, .latency_ns = latency_ns, .samples_ns = {}, .text = {}};
  return answer;
}

TEST(MeasureFinals, AreComparedWithTheDefaultSchedule) {
  using record::VerdictKind;
  const std::vector<measure::Answer> answers = {final_of(1, VerdictKind::Timed, 1000),
                                                final_of(2, VerdictKind::Timed, 3000),
                                                final_of(3, VerdictKind::Crash, 0)};
  MeasureOutcome outcome;
  outcome.finals = compare_finals(answers, answers[1].attempt.program);
  EXPECT_EQ(outcome.default_ns(), 3000);
  EXPECT_TRUE(outcome.finals[1].is_default);
  EXPECT_EQ(outcome.finals[0].against_default, 3);
  EXPECT_EQ(outcome.finals[1].against_default, 1);
  EXPECT_EQ(outcome.finals[2].against_default, 0);
  outcome.finals = compare_finals(answers, answers[2].attempt.program);  // it was not timed
  EXPECT_EQ(outcome.default_ns(), 0);
  EXPECT_EQ(outcome.finals[0].against_default, 0);
}

TEST(MeasureTally, StoredVerdictsCostNoTime) {
  MeasureTally tally;
  tally.total = 10;
  EXPECT_EQ(tally.trials_per_s(0), 0);
  EXPECT_EQ(tally.left_s(2), 0);  // not known yet
  tally.measured = 4;
  tally.stored = 1;
  EXPECT_EQ(tally.trials_per_s(2), 2);
  EXPECT_EQ(tally.left_s(2), 2.5);
  tally.stored = 6;
  EXPECT_EQ(tally.left_s(2), 0);
}

TEST(Measure, GivesEachProgramAVerdictAndRunsFinals) {
  const SmallModel small;
  Listener listener;
  const auto outcome = measure(options_of(small), listener, {});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->begun);
  EXPECT_EQ(outcome->tally.answered(), outcome->tally.total);
  EXPECT_GT(outcome->tally.valid(), 0U);
  EXPECT_EQ(listener.starts, 1);
  EXPECT_EQ(listener.ends, 1);
  EXPECT_EQ(listener.finals, 1);
  EXPECT_FALSE(outcome->finals.empty());

  const auto replayed = replay({.id = outcome->finals.front().answer.attempt_id.hex(),
                                .records = small.records(),
                                .workers = kWorkers},
                               {});
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_TRUE(replayed->now.has_value());
  const StopSource stop;
  stop.request();
  const auto stopped = replay(
      {.id = listener.last.hex(), .records = small.records(), .workers = kWorkers}, stop.token());
  ASSERT_TRUE(stopped.has_value()) << stopped.error().message;
  EXPECT_FALSE(stopped->now.has_value());
  const auto explained = explain({.what = outcome->finals.front().answer.attempt_id.hex(),
                                  .records = small.records(),
                                  .seconds = 60},
                                 stop.token());
  ASSERT_TRUE(explained.has_value()) << explained.error().message;
  EXPECT_EQ(explained->no_peak, "The ceilings of this machine were not measured: stopped.");
  EXPECT_EQ(explained->ceilings.gflops, 0);
}

// The workers have the built-in tables; only the key of the verdicts is of interest.
TEST(Measure, BackEndsHaveSeparateVerdicts) {
  const SmallModel small;
  const std::span<const codegen::BackEnd> all = codegen::all_back_ends();
  const std::vector<codegen::BackEnd> reversed(all.rbegin(), all.rend());
  MeasureOptions options = options_of(small);
  Listener listener;
  const auto usual = measure(options, listener, {});
  ASSERT_TRUE(usual.has_value()) << usual.error().message;
  options.tables.back_ends = reversed;
  const auto other = measure(options, listener, {});
  ASSERT_TRUE(other.has_value()) << other.error().message;
  EXPECT_EQ(other->tally.stored, 0U);
  ASSERT_FALSE(other->finals.empty());
  EXPECT_EQ(other->finals.front().answer.attempt.protocol.back_end, "c");
  EXPECT_EQ(measure(options, listener, {})->tally.measured, 0U);
}

// It is another task with separate records.
TEST(Measure, KeepsDenormalsIfAllowed) {
  const SmallModel small;
  MeasureOptions options = options_of(small);
  Listener listener;
  const auto usual = measure(options, listener, {});
  ASSERT_TRUE(usual.has_value()) << usual.error().message;
  options.allow = {"denormals"};
  const auto kept = measure(options, listener, {});
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_TRUE(kept->task.workload.permissions.denormals);
  EXPECT_NE(kept->task.key(), usual->task.key());
  EXPECT_EQ(kept->tally.stored, 0U);
  EXPECT_EQ(kept->tally.count(record::VerdictKind::WrongResult), 0U);
  options.allow = {"winograd"};
  EXPECT_THAT(measure(options, listener, {}).error().message,
              HasSubstr("permission winograd is for"));
}

TEST(Measure, StopSkipsTheFinals) {
  const SmallModel small;
  MeasureOptions options = options_of(small);
  options.random = 200;
  Listener listener;
  listener.stop_after = 1;
  const auto outcome = measure(options, listener, listener.stop.token());
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->begun);
  EXPECT_TRUE(outcome->stopped);
  EXPECT_LT(outcome->tally.answered(), outcome->tally.total);
  EXPECT_EQ(listener.finals, 0);
}

TEST(Measure, AWorkersFolderThatDoesNotExistIsAnError) {
  const SmallModel small;
  MeasureOptions options = options_of(small);
  options.workers = "/nowhere";
  Listener listener;
  EXPECT_THAT(measure(options, listener, {}).error().message, HasSubstr("/nowhere"));
  EXPECT_FALSE(std::filesystem::exists(small.records()));
}

}  // namespace
}  // namespace tilewright::app
