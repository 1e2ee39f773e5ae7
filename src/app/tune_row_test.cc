#include "app/tune_row.h"

#include <gtest/gtest.h>

#include "schedule/trace.h"

namespace tilewright::app {
namespace {

TuneRow row_of(double weight, double best_ns, double default_ns) {
  const auto timed = [](double ns) {
    return tune::Trial{.kind = record::VerdictKind::Timed, .latency_ns = ns, .attempt = {}};
  };
  TuneRow row{.name = "t", .key = {1, 2}, .flop = 1e6, .weight = weight, .result = {}};
  if (best_ns > 0) row.result.best = {.proposal = {}, .trial = timed(best_ns)};
  if (default_ns > 0) row.result.default_trial = timed(default_ns);
  return row;
}

TEST(ModelTime, TasksCountByWeight) {
  const std::vector<TuneRow> rows = {row_of(1, 1e5, 1e5), row_of(3, 1e5, 4e5), row_of(1, 0, 0)};
  const ModelTime time = model_time_of(rows);
  EXPECT_EQ(time.sum_ns, 4e5);
  EXPECT_EQ(time.default_ns, 1.3e6);
  EXPECT_EQ(time.unknown, 1U);
}

// The time inside the model counts; how much slower a default schedule is, is known outside.
TEST(ModelTime, TimesInsideTheModelArePreferred) {
  std::vector<TuneRow> rows = {row_of(1, 1e5, 1e5), row_of(3, 1e5, 4e5)};
  rows[1].in_model.emplace().verdict.latency_ns = 2e5;
  const ModelTime time = model_time_of(rows);
  EXPECT_EQ(time.sum_ns, 7e5);
  EXPECT_EQ(time.default_ns, 2.5e6);
}

TEST(MeanGain, IsTheGeometricMeanOverComparableTasks) {
  const std::vector<TuneRow> rows = {row_of(1, 1e5, 2e5), row_of(3, 1e5, 8e5), row_of(1, 1e5, 0),
                                     row_of(1, 0, 0)};
  EXPECT_NEAR(mean_gain_of(rows), 4, 1e-12);
  EXPECT_EQ(mean_gain_of(std::span(rows).first(1)), 0);
  EXPECT_EQ(mean_gain_of({}), 0);
}

TEST(TuneRow, RatesAndRatiosAreOfTheWinner) {
  TuneRow row = row_of(3, 1e5, 4e5);
  EXPECT_EQ(row.gflops(), 10);
  EXPECT_EQ(row.against_default(), 4);
  EXPECT_EQ(row.peak_reached(40), 0.25);
  row.peak_share = 0;
  EXPECT_EQ(row.peak_reached(40), 0);
  row.in_model.emplace().verdict.latency_ns = 2e5;
  EXPECT_EQ(row.gflops(), 5);
  EXPECT_EQ(row.against_default(), 4);
  const std::vector<TuneRow> rows = {row, row_of(4, 1e5, 1e5), row_of(1, 0, 0)};
  const ModelTime time = model_time_of(rows);
  EXPECT_EQ(time.share_of(rows[0]), 0.6);
  EXPECT_EQ(time.against_default(), 2.8);
  EXPECT_EQ(time.share_of(rows[2]), 0);
  EXPECT_EQ(rows[2].against_default(), 0);
  EXPECT_EQ(rows[2].gflops(), 0);
}

// Also of a search that was too short for a complete round.
TEST(TuneRow, TheWinnerOfASearchIsCarriedOrNot) {
  TuneRow row = row_of(1, 1e5, 0);
  row.result.best->proposal.program = {7, 8};
  EXPECT_EQ(row.winner_was_carried(), std::nullopt);  // from the store
  row.result.searched = true;
  EXPECT_EQ(row.winner_was_carried(), false);
  row.result.carried = {{7, 8}};
  EXPECT_EQ(row.winner_was_carried(), true);
  row.in_model.emplace().program = {9, 9};
  EXPECT_EQ(row.winner_was_carried(), false);
  row = row_of(1, 0, 0);
  row.result.searched = true;
  EXPECT_EQ(row.winner_was_carried(), std::nullopt);
}

TEST(TuneRow, HasTheTraceOfTheFastest) {
  const std::string text = "split C i [4]\n";
  TuneRow row = row_of(1, 1e5, 0);
  row.result.best->proposal.trace = schedule::trace_from_text(text).value();
  EXPECT_EQ(row.trace_alone(), text);
  EXPECT_EQ(row_of(1, 0, 0).trace_alone(), "");
}

}  // namespace
}  // namespace tilewright::app
