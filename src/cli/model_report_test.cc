#include "cli/model_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace tilewright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

app::TuneRow row_of(const std::string& name, double weight, double best_ns, double default_ns) {
  const auto timed = [](double ns) {
    return tune::Trial{.kind = record::VerdictKind::Timed, .latency_ns = ns, .attempt = {}};
  };
  app::TuneRow row{.name = name, .key = {1, 2}, .flop = 1e6, .weight = weight, .result = {}};
  if (best_ns > 0) row.result.best = {.proposal = {}, .trial = timed(best_ns)};
  if (default_ns > 0) row.result.default_trial = timed(default_ns);
  return row;
}

TEST(ModelTable, SharesAreOfTheWeightedSum) {
  const std::vector<app::TuneRow> rows = {row_of("pool", 1, 1e5, 1e5), row_of("conv", 3, 1e5, 4e5),
                                          row_of("later", 1, 0, 0)};
  const std::string table = model_table(rows, app::model_time_of(rows));
  EXPECT_THAT(table, HasSubstr("75.0 %"));
  EXPECT_THAT(table, HasSubstr("25.0 %"));
  EXPECT_LT(table.find("conv"), table.find("pool"));  // what takes longest is first
  EXPECT_THAT(table, Not(HasSubstr("later")));
  EXPECT_THAT(table, HasSubstr("400 us per run, 3.25 x the default schedules (1.3 ms)"));
}

TEST(ModelFinalsText, PrintsTheOutcome) {
  EXPECT_EQ(model_finals_text({}), "");  // nothing is new
  app::ModelFinals finals;
  finals.why_not = "there was no time left";
  EXPECT_THAT(model_finals_text(finals), HasSubstr("no finals inside the model: there was no"));
  EXPECT_EQ(model_finals_json(finals).at("why_not"), "there was no time left");
  finals = {.held = true,
            .why_not = {},
            .cut_short = "the disk is full",
            .before_ns = 3e6,
            .after_ns = 2e6,
            .kernels = 9,
            .changed = 4,
            .libraries = 6};
  EXPECT_THAT(
      model_finals_text(finals),
      HasSubstr(
          "2 ms per run, 1.5 x the schedules that are fastest alone; 4 of 9 kernels changed"));
  EXPECT_THAT(model_finals_text(finals), HasSubstr("6 libraries; cut short: the disk is full)"));
  EXPECT_EQ(model_finals_json(finals).at("changed"), 4);
}

TEST(ModelTable, ProblemsArePrinted) {
  std::vector<app::TuneRow> rows = {row_of("conv", 1, 0, 0)};
  rows[0].result.problem = "too large";
  EXPECT_THAT(model_table(rows, {}), HasSubstr("error: too large"));
}

}  // namespace
}  // namespace tilewright::cli
