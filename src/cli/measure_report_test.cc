#include "cli/measure_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "cli/progress_printer.h"
#include "cli/units.h"

namespace tilewright::cli {
namespace {

using measure::Answer;
using record::Verdict;
using record::VerdictKind;
using testing::HasSubstr;

Verdict verdict_of(VerdictKind kind, double latency_ns = 0, const std::string& text = "") {
  return {.kind = kind, .latency_ns = latency_ns, .samples_ns = {}, .text = text};
}

Answer answer_of(size_t candidate, bool stored, const Verdict& verdict) {
  Answer answer;
  answer.candidate = candidate;
  answer.stored = stored;
  answer.attempt.program = {candidate + 1, 7};
  answer.attempt.verdict = verdict;
  answer.attempt_id = {candidate, 1};
  return answer;
}

TEST(Units, Text) {
  EXPECT_EQ(duration_text(85), "85 ns");
  EXPECT_EQ(duration_text(412'300), "412.3 us");
  EXPECT_EQ(duration_text(1'234'000), "1.234 ms");
  EXPECT_EQ(duration_text(2.5e9), "2.5 s");
  EXPECT_EQ(rate_text(2e9, 1e9), "2 GFLOP/s");
  EXPECT_EQ(rate_text(0, 1e9), "-");
  EXPECT_EQ(clock_text(7.4), "0:07");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(MeasureTally, CountsKindsAndPrintsTheFirstOfEach) {
  app::MeasureTally tally;
  tally.total = 10;
  EXPECT_EQ(progress_line(tally, 0, 0), "0/10");
  tally.add(answer_of(0, false, verdict_of(VerdictKind::Timed, 3000)));
  tally.add(answer_of(1, true, verdict_of(VerdictKind::Timed, 2000)));
  tally.add(answer_of(2, false, verdict_of(VerdictKind::Censored, 1)));
  tally.add(answer_of(3, false, verdict_of(VerdictKind::Crash, 0, "signal 11\nin check")));
  tally.add(answer_of(4, false, verdict_of(VerdictKind::Crash, 0, "signal 8")));
  EXPECT_EQ(tally.measured, 4u);
  EXPECT_EQ(tally.stored, 1u);
  EXPECT_EQ(tally.valid(), 3u);
  EXPECT_EQ(tally.best_ns, 2000);
  EXPECT_EQ(tally.best_id, (Hash128{1, 1}));
  EXPECT_EQ(progress_line(tally, 4000, 2),
            "5/10  best 2 us 2 GFLOP/s  2.0 trials/s  failed: 2 crash  left 0:03");
  EXPECT_EQ(failures_text(tally),
            "failed:\n  2 crash\n      candidate 3: signal 11\n      in check\n");
  EXPECT_EQ(failures_text(app::MeasureTally{}), "");
}

TEST(MeasureReport, Json) {
  const Json timed = answer_json(answer_of(3, true, verdict_of(VerdictKind::Timed, 500)), 1000);
  EXPECT_EQ(timed.at("candidate"), 3);
  EXPECT_EQ(timed.at("stored"), true);
  EXPECT_EQ(timed.at("verdict"), "timed");
  EXPECT_EQ(timed.at("latency_ns"), 500.0);
  EXPECT_EQ(timed.at("gflops"), 2.0);
  EXPECT_FALSE(timed.contains("text"));
  const Json crash = answer_json(answer_of(0, false, verdict_of(VerdictKind::Crash, 0, "x")), 1000);
  EXPECT_FALSE(crash.contains("latency_ns"));
  EXPECT_EQ(crash.at("text"), "x");
}

TEST(MeasureReport, FinalsAreRelativeToTheDefault) {
  const std::vector<Answer> answers = {answer_of(0, false, verdict_of(VerdictKind::Timed, 1000)),
                                       answer_of(1, false, verdict_of(VerdictKind::Timed, 3000)),
                                       answer_of(2, false, verdict_of(VerdictKind::Crash, 0, "x"))};
  const auto compared = app::compare_finals(answers, answers[1].attempt.program);
  const std::string text = finals_text(compared, 0);
  EXPECT_THAT(text, HasSubstr("3.00 x"));
  EXPECT_THAT(text, HasSubstr("the default schedule"));
  EXPECT_THAT(text, HasSubstr("crash"));
  EXPECT_FALSE(final_json(compared[2], 3, 2000).at("final").contains("against_default"));
  const Json json = final_json(compared[0], 1, 2000).at("final");
  EXPECT_EQ(json.at("against_default"), 3.0);
  EXPECT_EQ(json.at("gflops"), 2.0);
}

TEST(ProgressPrinter, OverwritesOnATerminalOnly) {
  std::ostringstream out;
  ProgressPrinter terminal(out, true);
  EXPECT_TRUE(terminal.is_due(0));
  terminal.print("longer", 0);
  EXPECT_FALSE(terminal.is_due(0.01));
  terminal.print("x", 1);
  terminal.finish();
  terminal.finish();
  EXPECT_EQ(out.str(), "\rlonger\rx     \n");
  std::ostringstream file;
  ProgressPrinter plain(file, reaches_terminal(file));
  plain.print("one", 0);
  EXPECT_FALSE(plain.is_due(1));
  plain.print("two", 9);
  plain.finish();
  EXPECT_EQ(file.str(), "one\ntwo\n");
}

}  // namespace
}  // namespace tilewright::cli
