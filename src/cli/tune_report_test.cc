#include "cli/tune_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "cli/tune_outcome.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

using record::VerdictKind;
using testing::HasSubstr;
using testing::Not;
using tune::Trial;

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

Trial timed(double latency_ns) {
  return {.kind = VerdictKind::Timed, .latency_ns = latency_ns, .attempt = {0xabcdef, 1}};
}

Trial failed(VerdictKind kind, const std::string& text) {
  return {.kind = kind, .attempt = {}, .text = text};
}

TEST(TuneProgress, PrintsProgressAndRate) {
  app::TuneTally tally;
  tally.total = 200;
  tally.name = "C2D2";
  tally.flop = 2e8;
  for (int k = 0; k < 50; ++k) tally.add(timed(1e6));
  tally.add(failed(VerdictKind::Crash, "signal 11"));
  tally.best_ns = 1e6;
  tally.scored = 100'000;
  tally.search_s = 2;
  EXPECT_EQ(tune_progress_line(tally, 400, 10, 30, true),
            "[=====>              ] 51/200  C2D2 1 ms 200 GFLOP/s 50 % of peak  5.1 trials/s  "
            "50,000 candidates/s  left 0:30  failed: 1 crash");
  const std::string plain = tune_progress_line(tally, 400, 10, kNoEnd, false);
  EXPECT_THAT(plain, testing::StartsWith("51/200"));
  EXPECT_THAT(plain, Not(HasSubstr("left")));
}

TEST(TuneFailures, MessagesThatDifferOnlyInNumbersAreMerged) {
  app::TuneTally tally;
  EXPECT_EQ(failures_text(tally), "");
  tally.add(failed(VerdictKind::Crash, "signal 11"));
  tally.add(failed(VerdictKind::WrongResult, "element 3 is 7\nand more"));
  tally.add(failed(VerdictKind::WrongResult, "element 41 is 8"));
  tally.add(timed(5));
  EXPECT_EQ(failures_text(tally),
            "3 of 4 candidates failed:\n"
            "     2 wrong_result: element 3 is 7\n"
            "     1 crash: signal 11\n");
}

app::TuneRow row_of(const std::string& name, double best_ns) {
  app::TuneRow row{.name = name, .key = {1, 2}, .flop = 1e6, .weight = 1, .result = {}};
  row.result.rounds = best_ns > 0 ? 1 : 0;
  row.result.trials = best_ns > 0 ? 24 : 0;
  if (best_ns > 0) row.result.best = {.proposal = {}, .trial = timed(best_ns)};
  return row;
}

TEST(TuneTable, ListsStartedTasks) {
  std::vector<app::TuneRow> rows = {row_of("GMM1", 1e4), row_of("GMM2", 0)};
  rows[0].result.default_trial = timed(2e4);
  const std::string table = tune_table(rows, 200);
  EXPECT_THAT(table, HasSubstr("GMM1"));
  EXPECT_THAT(table, HasSubstr("50 %"));
  EXPECT_THAT(table, Not(HasSubstr("GMM2")));
  EXPECT_EQ(not_begun_text(rows),
            "1 of 2 tasks not started, too few trials or too little time: GMM2\n");
  EXPECT_EQ(not_begun_text({rows.data(), 1}), "");
  EXPECT_THAT(winners_text(rows, 0), HasSubstr("2 x the default schedule (20 us)"));
  for (int k = 0; k < 6; ++k) rows.push_back(row_of("T" + std::to_string(k), 0));
  EXPECT_THAT(not_begun_text(rows), HasSubstr("7 of 8 tasks"));
  EXPECT_THAT(not_begun_text(rows), HasSubstr("GMM2, T0, T1, T2, T3 and 2 more"));
}

TEST(TuneTable, ThePeakIsThatOfTheType) {
  const auto share = [](const char* text) { return app::peak_share_of(*parse_workload(text)); };
  EXPECT_EQ(share("matmul:m=64,n=64,k=64"), 1);
  EXPECT_EQ(share("matmul:m=64,n=64,k=64,dtype=bf16"), 1);
  EXPECT_EQ(share("matmul:m=64,n=64,k=64,dtype=f64"), 0.5);
  EXPECT_EQ(share("matmul:m=64,n=64,k=64,dtype=i8"), 0);
  app::TuneRow row = row_of("GMM1", 1e4);  // 100 GFLOP/s
  row.peak_share = 0.5;
  EXPECT_THAT(tune_table({{row}}, 250), HasSubstr(" 80 %"));
  EXPECT_THAT(tune_table({{row}}, 190), HasSubstr("above the measured peak"));
  row.peak_share = 0;
  EXPECT_THAT(tune_table({{row}}, 50), Not(HasSubstr("%")));
  app::TuneTally tally;
  tally.flop = 1e6;
  tally.best_ns = 1e4;
  tally.peak_share = 0.5;
  EXPECT_THAT(tune_progress_line(tally, 250, 1, kNoEnd, false), HasSubstr("80 % of peak"));
  tally.peak_share = 0;
  EXPECT_THAT(tune_progress_line(tally, 250, 1, kNoEnd, false), Not(HasSubstr("peak")));
}

TEST(TuneOutcome, AStopBeforeTheTasksAreKnownHasNoTable) {
  app::TuneOutcome outcome;
  outcome.of_model = true;
  outcome.stopped = true;
  EXPECT_EQ(outcome_text(outcome), "interrupted before its tasks were known\n");
  const Json json = outcome_json(outcome);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_TRUE(json["tasks"].empty());
}

TEST(TuneOutcome, AnInterruptedRunSaysSoAndHowItResumes) {
  app::TuneOutcome outcome;
  outcome.rows = {row_of("GMM1", 1e4), row_of("GMM2", 0)};
  EXPECT_THAT(outcome_text(outcome), HasSubstr("too few trials or too little time: GMM2"));
  EXPECT_THAT(outcome_text(outcome), Not(HasSubstr("interrupted")));
  EXPECT_THAT(outcome_text(outcome), Not(HasSubstr("./dev")));
  outcome.stopped = true;
  EXPECT_THAT(outcome_text(outcome), HasSubstr("1 of 2 tasks not started, interrupted: GMM2\n"));
  EXPECT_THAT(outcome_text(outcome), HasSubstr("\ninterrupted; the same command resumes\n"));
  outcome = {};
  EXPECT_THAT(outcome_text(outcome), Not(HasSubstr("interrupted")));
}

TEST(TuneQuality, IsOneLineAndDefinesRecall) {
  tune::RoundReport report;
  report.model = "xgboost";
  EXPECT_EQ(quality_text("C2D2", report), "");
  report.quality = {.programs = 64,
                    .rank_correlation = 0.52,
                    .pairwise_accuracy = 0.7,
                    .k = 16,
                    .recall_at_k = 0.5,
                    .top1 = 0.8,
                    .top5 = 0.97};
  EXPECT_EQ(quality_text("C2D2", report),
            "scores of xgboost in the last round (C2D2, 64 programs): rank correlation 0.52, 70 % "
            "of pairs in order, 50 % of the best 16 found, best of 5 at 97 %\n");
  const Json quality = round_json("C2D2", report, {}).at("quality");
  EXPECT_EQ(quality.at("k"), 16);
  EXPECT_EQ(quality.at("recall_at_k"), 0.5);
}

TEST(NoWinner, TimeoutIsNotAFailure) {
  app::TuneTally tally;
  EXPECT_THAT(no_winner_text(tally), HasSubstr("--seconds"));
  EXPECT_THAT(no_winner_text(tally), Not(HasSubstr("valid")));
  tally.add(failed(VerdictKind::Crash, "signal 11"));
  EXPECT_THAT(no_winner_text(tally), HasSubstr("no candidate was valid"));
}

TEST(VerdictCounts, ProgressLineListsOnlyFailures) {
  app::VerdictCounts counts{};
  EXPECT_EQ(failed_text(counts), "");
  counts[static_cast<size_t>(VerdictKind::Timed)] = 5;
  EXPECT_EQ(failed_text(counts), "");
  counts[static_cast<size_t>(VerdictKind::Build)] = 2;
  counts[static_cast<size_t>(VerdictKind::Crash)] = 1;
  EXPECT_EQ(failed_text(counts), "  failed: 2 build, 1 crash");
  EXPECT_EQ(print_json(verdicts_json(counts)), R"({"timed":5,"build":2,"crash":1})");
}

TEST(TuneTable, PrintsProblemsAndTasksWithoutAValidProgram) {
  app::TuneRow invalid = row_of("GMM1", 0);
  invalid.result.trials = 24;
  invalid.result.end = tune::TaskEnd::Invalid;
  app::TuneRow broken = row_of("GMM2", 0);
  broken.result.problem = "too large";
  const std::vector<app::TuneRow> rows = {invalid, broken};
  EXPECT_THAT(tune_table(rows, 200), HasSubstr("invalid"));
  EXPECT_THAT(tune_table(rows, 200), HasSubstr("error"));
  EXPECT_EQ(winners_text(rows, 0), "GMM2: too large\n");
}

TEST(TuneTable, MoreThanThePeakIsExplained) {
  EXPECT_THAT(tune_table({{row_of("GMM1", 1e4)}}, 90), HasSubstr("above the measured peak"));
  EXPECT_THAT(tune_table({{row_of("GMM1", 1e4)}}, 110), Not(HasSubstr("above the measured peak")));
}

}  // namespace
}  // namespace tilewright::cli
