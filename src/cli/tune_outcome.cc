#include "cli/tune_outcome.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/json.h"
#include "cli/model_report.h"
#include "cli/tune_report.h"
#include "cli/units.h"

namespace tilewright::cli {

std::string outcome_text(const app::TuneOutcome& outcome) {
  if (outcome.stopped && outcome.rows.empty()) return "interrupted before its tasks were known\n";
  const app::TuneTally& tally = outcome.tally;
  std::string text = outcome.of_model ? model_table(outcome.rows, outcome.model_time)
                                      : tune_table(outcome.rows, outcome.peak_gflops);
  for (const app::ModelFinals& one : outcome.in_models) text += model_finals_text(one);
  text += not_begun_text(outcome.rows, outcome.stopped) + "\n" +
          (outcome.of_model ? "" : winners_text(outcome.rows, outcome.mean_gain)) +
          failures_text(tally) + quality_text(outcome.scored_task, outcome.scored_round);
  text += fmt::format("{} in {}: {} measured, {} known from the records ({})\n",
                      counted(tally.trials(), "trial"), duration_text(outcome.all_s * 1e9),
                      tally.measured, tally.stored, outcome.records);
  if (outcome.stopped) text += "interrupted; the same command resumes\n";
  return text;
}

Json outcome_json(const app::TuneOutcome& outcome) {
  const app::TuneTally& tally = outcome.tally;
  Json tasks = Json::array();
  for (const app::TuneRow& row : outcome.rows) tasks.push_back(row_json(row));
  Json json = {{"tasks", std::move(tasks)},
               {"trials", tally.trials()},
               {"measured", tally.measured},
               {"stored", tally.stored},
               {"verdicts", verdicts_json(tally.by_kind)},
               {"scored", tally.scored},
               {"search_s", tally.search_s},
               {"overhead_s", outcome.overhead_s},
               {"learning",
                {{"seconds", outcome.learning.seconds},
                 {"trainings", outcome.learning.trainings},
                 {"samples", outcome.learning.samples},
                 {"scope", outcome.shares_model ? "run" : "task"}}},
               {"seconds", outcome.all_s},
               {"finals_s", outcome.finals_s},
               {"peak_gflops", outcome.peak_gflops},
               {"trajectory", outcome.trajectory.hex()},
               {"resumed", outcome.resumed},
               {"interrupted", outcome.stopped},
               {"records", outcome.records}};
  if (outcome.all_s > 0) json["trials_per_s"] = outcome.trials_per_s();
  if (!outcome.of_model) return json;
  json["model_ns"] = outcome.model_time.sum_ns;
  Json finals = Json::array();
  for (const app::ModelFinals& one : outcome.in_models) finals.push_back(model_finals_json(one));
  json["model_finals"] = std::move(finals);
  return json;
}

}  // namespace tilewright::cli
