#include "cli/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/counted.h"
#include "base/json.h"
#include "cli/units.h"

namespace tilewright::cli {

using app::ModelFinals;
using app::TuneRow;

std::string model_table(std::span<const TuneRow> rows, const app::ModelTime& time) {
  std::vector<const TuneRow*> known;
  size_t width = 4;
  for (const TuneRow& row : rows) {
    if (row.latency_ns() <= 0 && row.result.problem.empty()) continue;
    known.push_back(&row);
    width = std::max(width, row.name.size());
  }
  std::ranges::sort(known, {}, [](const TuneRow* row) {
    return std::tuple(-row->weight * row->latency_ns(), row->name, row->key);
  });
  std::string text =
      fmt::format("{:<12}  {:<{}}  {:>6}  {:>9}  {:>10}  {:>6}  {:>9}  {:>6}\n", "ID", "task",
                  width, "weight", "GFLOP/s", "latency", "share", "x default", "trials");
  for (const TuneRow* row : known) {
    const double ns = row->latency_ns();
    const double gflops = row->gflops();
    text += fmt::format(
        "{:<12}  {:<{}}  {:>6g}  {:>9}  {:>10}  {:>6}  {:>9}  {:>6}\n", short_id(row->key),
        row->name, width, row->weight, gflops > 0 ? fmt::format("{:.4g}", gflops) : "-",
        ns > 0 ? duration_text(ns) : "-",
        ns > 0 ? fmt::format("{:.1f} %", 100 * time.share_of(*row)) : "-",
        ns > 0 ? fmt::format("{:.3g}", row->against_default()) : "-", row->result.trials);
    if (!row->result.problem.empty()) text += fmt::format("  error: {}\n", row->result.problem);
  }
  if (time.sum_ns > 0) {
    text += fmt::format("tasks together: {} per run, {:.3g} x the default schedules ({})\n",
                        duration_text(time.sum_ns), time.against_default(),
                        duration_text(time.default_ns));
  }
  return text;
}

std::string model_finals_text(const ModelFinals& finals) {
  if (!finals.why_not.empty()) {
    return fmt::format("no finals inside the model: {}\n", finals.why_not);
  }
  if (!finals.held) return {};
  return fmt::format(
      "in the model: {} per run, {:.3g} x the schedules that are fastest alone; {} of {} "
      "changed ({}{})\n",
      duration_text(finals.after_ns), finals.gain(), finals.changed,
      counted(finals.kernels, "kernel"), counted(finals.libraries, "library", "libraries"),
      finals.cut_short.empty() ? "" : "; cut short: " + finals.cut_short);
}

Json model_finals_json(const ModelFinals& finals) {
  if (!finals.why_not.empty()) return {{"why_not", finals.why_not}};
  Json json = {{"held", finals.held},         {"before_ns", finals.before_ns},
               {"after_ns", finals.after_ns}, {"kernels", finals.kernels},
               {"changed", finals.changed},   {"libraries", finals.libraries}};
  if (!finals.cut_short.empty()) json["cut_short"] = finals.cut_short;
  return json;
}

}  // namespace tilewright::cli
