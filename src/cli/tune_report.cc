#include "cli/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/cost_model.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {

using app::FailureGroup;
using app::TuneRow;
using app::TuneTally;

namespace {

constexpr size_t kBar = 20;

std::string thousands(double value) {
  const std::string digits = fmt::format("{:.0f}", value);
  std::string text;
  for (size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) text += ',';
    text += digits[k];
  }
  return text;
}

std::string flop_text(double flop) {
  if (flop >= 1e12) return fmt::format("{:.3g} T", flop * 1e-12);
  if (flop >= 1e9) return fmt::format("{:.3g} G", flop * 1e-9);
  return flop >= 1e6 ? fmt::format("{:.3g} M", flop * 1e-6) : fmt::format("{:.3g} k", flop * 1e-3);
}

}  // namespace

std::string tune_progress_line(const TuneTally& tally, double peak_gflops, double elapsed_s,
                               double left_s, bool bar) {
  std::string line;
  if (bar && tally.total > 0) {
    const size_t filled = std::min(kBar, kBar * tally.trials() / static_cast<size_t>(tally.total));
    line += fmt::format("[{}{}{}] ", std::string(filled, '='), filled < kBar ? ">" : "",
                        std::string(filled < kBar ? kBar - filled - 1 : 0, ' '));
  }
  line += tally.total > 0 ? fmt::format("{}/{}", tally.trials(), tally.total)
                          : counted(tally.trials(), "trial");
  line += "  " + tally.name;
  if (tally.best_ns > 0) {
    line += " " + duration_text(tally.best_ns);
    if (tally.flop > 0) line += " " + rate_text(tally.flop, tally.best_ns);
    const double reached = tally.peak_reached(peak_gflops);
    if (reached > 0) line += fmt::format(" {:.0f} % of peak", 100 * reached);
  }
  if (const double rate = tally.trials_per_s(elapsed_s); rate > 0) {
    line += fmt::format("  {:.1f} trials/s", rate);
  }
  if (tally.search_s > 0) {
    line += fmt::format("  {} candidates/s", thousands(tally.scored_per_s()));
  }
  if (std::isfinite(left_s)) line += "  left " + clock_text(left_s);
  return line + failed_text(tally.by_kind);
}

std::string tune_table(std::span<const TuneRow> rows, double peak_gflops) {
  size_t width = 4;
  bool above_peak = false;
  for (const TuneRow& row : rows) {
    if (row.is_begun()) width = std::max(width, row.name.size());
  }
  std::string text =
      fmt::format("{:<12}  {:<{}}  {:>8}  {:>6}  {:>9}  {:>6}  {:>10}  {:>6}  {}\n", "ID", "name",
                  width, "FLOP", "weight", "GFLOP/s", "peak", "latency", "trials", "done");
  for (const TuneRow& row : rows) {
    if (!row.is_begun()) continue;
    const tune::Trial* const winner = row.result.winning_trial();
    const double gflops = row.gflops();
    const double reached = row.peak_reached(peak_gflops);
    text += fmt::format("{:<12}  {:<{}}  {:>8}  {:>6g}  {:>9}  {:>6}  {:>10}  {:>6}  {}\n",
                        short_id(row.key), row.name, width, flop_text(row.flop), row.weight,
                        gflops > 0 ? fmt::format("{:.4g}", gflops) : "-",
                        reached > 0 ? fmt::format("{:.0f} %", 100 * reached) : "-",
                        winner != nullptr ? duration_text(winner->latency_ns) : "-",
                        row.result.trials, row.end_text());
    above_peak |= reached > 1.02;
  }
  if (above_peak) {
    text += fmt::format(
        "! above the measured peak of {:.4g} GFLOP/s (f32): either other processes were running "
        "during that measurement, or the schedule skips work that the FLOP count includes\n",
        peak_gflops);
  }
  return text;
}

std::string not_begun_text(std::span<const TuneRow> rows, bool stopped) {
  constexpr size_t kShown = 5;
  size_t count = 0;
  std::string names;
  for (const TuneRow& row : rows) {
    if (row.is_begun()) continue;
    if (++count <= kShown) names += (names.empty() ? "" : ", ") + row.name;
  }
  if (count == 0) return {};
  if (count > kShown) names += fmt::format(" and {} more", count - kShown);
  return fmt::format("{} of {} not started, {}: {}\n", count, counted(rows.size(), "task"),
                     stopped ? "interrupted" : "too few trials or too little time", names);
}

std::string failures_text(const TuneTally& tally) {
  std::vector<const FailureGroup*> groups;
  size_t failed = 0;
  for (const auto& [text, group] : tally.failures) {
    groups.push_back(&group);
    failed += group.count;
  }
  if (groups.empty()) return {};
  std::ranges::sort(groups, {}, [](const FailureGroup* group) {
    return std::tuple(-static_cast<int64_t>(group->count), group->kind, group->example);
  });
  std::string text =
      fmt::format("{} of {} failed:\n", failed, counted(tally.trials(), "candidate"));
  constexpr size_t kShown = 8;
  for (size_t k = 0; k < std::min(groups.size(), kShown); ++k) {
    text += fmt::format("{:>6} {}: {}\n", groups[k]->count, app::verdict_name(groups[k]->kind),
                        groups[k]->example);
  }
  if (groups.size() > kShown)
    text += fmt::format("       and {}\n", counted(groups.size() - kShown, "more kind"));
  return text;
}

std::string winners_text(std::span<const TuneRow> rows, double mean_gain) {
  std::string text;
  for (const TuneRow& row : rows) {
    if (!row.result.problem.empty()) text += fmt::format("{}: {}\n", row.name, row.result.problem);
    const tune::Trial* const winner = row.result.winning_trial();
    if (winner == nullptr) continue;
    const double default_ns = row.result.default_ns();
    const bool is_default = !row.result.finals.empty() && row.result.finals.front().is_default;
    text += fmt::format("{}: {} in {}", row.name, short_id(winner->attempt),
                        duration_text(winner->latency_ns));
    if (is_default) {
      text += ", the default schedule: nothing faster was found\n";
    } else if (default_ns > 0) {
      text += fmt::format(", {:.3g} x the default schedule ({})\n", row.against_default(),
                          duration_text(default_ns));
    } else {
      text += "\n";
    }
  }
  if (mean_gain > 0) {
    text += fmt::format("geometric mean: {:.3g} x the default schedules\n", mean_gain);
  }
  return text;
}

std::string no_winner_text(const TuneTally& tally) {
  if (tally.trials() > 0) return "no candidate was valid";
  return "out of time before the first trial: raise --seconds";
}

std::string quality_text(const std::string& name, const tune::RoundReport& report) {
  if (!report.quality) return {};
  const cost::Quality& quality = *report.quality;
  return fmt::format(
      "scores of {} in the last round ({}, {} programs): rank correlation {:.2f}, {:.0f} % of "
      "pairs in order, {:.0f} % of the best {} found, best of 5 at {:.0f} %\n",
      report.model, name, quality.programs, quality.rank_correlation,
      100 * quality.pairwise_accuracy, 100 * quality.recall_at_k, quality.k, 100 * quality.top5);
}

Json round_json(const std::string& name, const tune::RoundReport& report,
                std::span<const tune::Trial> trials) {
  Json answers = Json::array();
  for (const tune::Trial& trial : trials) {
    Json answer = {{"verdict", app::verdict_name(trial.kind)}, {"stored", trial.stored}};
    if (app::is_valid(trial.kind)) answer["latency_ns"] = trial.latency_ns;
    answers.push_back(std::move(answer));
  }
  Json json = {{"name", name},
               {"round", report.round},
               {"proposed", report.proposed},
               {"tried", report.tried},
               {"stored", report.stored},
               {"carried", report.carried},
               {"complete", report.complete},
               {"model", report.model},
               {"scored", report.scored},
               {"propose_s", report.propose_s},
               {"try_s", report.try_s},
               {"learn_s", report.learn_s}};
  if (report.best_ns > 0) json["best_ns"] = report.best_ns;
  if (report.quality) {
    json["quality"] = app::quality_json(*report.quality);
  }
  json["trials"] = std::move(answers);
  return json;
}

Json row_json(const TuneRow& row) {
  const tune::TaskResult& result = row.result;
  Json json = {{"name", row.name},
               {"task", row.key.hex()},
               {"flop", row.flop},
               {"weight", row.weight},
               {"rounds", result.rounds},
               {"trials", result.trials},
               {"measured", result.measured},
               {"borrowed", result.borrowed},
               {"carried", result.carried.size()},
               {"done", row.end_text()}};
  if (!result.problem.empty()) json["problem"] = result.problem;
  if (result.best) {
    json["best"] = {{"id", result.best->trial.attempt.hex()},
                    {"latency_ns", result.best->trial.latency_ns}};
  }
  if (result.default_trial && result.default_trial->is_timed()) {
    json["default_trial_ns"] = result.default_trial->latency_ns;
  }
  if (const tune::Trial* const winner = result.winning_trial()) {
    json["winner"] = {{"id", winner->attempt.hex()},
                      {"latency_ns", winner->latency_ns},
                      {"program", result.winner()->program.hex()},
                      {"trace", row.trace_alone()}};
  }
  if (row.in_model) {
    json["winner"] = {{"id", row.in_model->id().hex()},
                      {"latency_ns", row.in_model->verdict.latency_ns},
                      {"program", row.in_model->program.hex()},
                      {"trace", row.in_model->trace},
                      {"protocol", app::protocol_name(row.in_model->protocol)}};
  }
  // The store knows the winner of a completed search, but not how its search began.
  if (const auto carried = row.winner_was_carried()) json["winner_carried"] = *carried;
  if (const double gflops = row.gflops(); gflops > 0) json["gflops"] = gflops;
  if (result.default_ns() > 0) json["default_ns"] = result.default_ns();
  json["finals"] = result.finals.size();
  json["finals_held"] = result.finals_held;
  return json;
}

}  // namespace tilewright::cli
