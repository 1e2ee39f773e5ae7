// `tilewright tasks MODEL`: the kernels that a model is cut into: key, FLOP, how often each is used
// and the best that the records have.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include "base/json.h"
#include "cli/model_choice.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelChoice model;
  TargetChoice target;
  std::string records = kDefaultRecords;
};

struct Row {
  Hash128 key;
  std::string title;
  double flop = 0;
  size_t weight = 1;
  const deploy::Choice* choice = nullptr;
};

std::string text_of(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:<12}  {:>8}  {:>6}  {:>10}  {:>15}  {}\n", "ID", "MFLOP",
                                 "weight", "best", "rate", "task");
  size_t untuned = 0;
  double sum_ns = 0;
  for (const Row& row : rows) {
    const double ns = row.choice->record ? row.choice->record->verdict.latency_ns : 0;
    if (ns <= 0) ++untuned;
    sum_ns += ns * static_cast<double>(row.weight);
    text += fmt::format("{:<12}  {:>8.4g}  {:>6}  {:>10}  {:>15}  {}\n", short_id(row.key),
                        row.flop / 1e6, row.weight, ns > 0 ? duration_text(ns) : "-",
                        ns > 0 && row.flop > 0 ? rate_text(row.flop, ns) : "-", row.title);
  }
  text += fmt::format("{} task{}, {} with a record; those take {} a run\n", rows.size(),
                      rows.size() == 1 ? "" : "s", rows.size() - untuned, duration_text(sum_ns));
  return text;
}

Result<ExitCode> run_tasks(const Context& context, const Options& options) {
  const Result<Target> target = compiled_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  const Result<ChosenModel> chosen = choose_model(options.model, *target, options.records);
  if (!chosen) return std::unexpected(chosen.error());
  const auto& [plan, choices] = *chosen;
  std::vector<Row> rows;
  for (size_t k = 0; k < plan.partition.kernels.size(); ++k) {
    const graph::Partition::Kernel& kernel = plan.partition.kernels[k];
    const graph::Group& group = plan.partition.groups[kernel.groups.front()];
    rows.push_back({.key = Task{.workload = group.workload, .target = *target}.key(),
                    .title = group.title,
                    .flop = group.workload.dag->flop(),
                    .weight = kernel.groups.size(),
                    .choice = &choices[k]});
  }
  if (!context.json) {
    context.out << text_of(rows);
    return ExitCode::Done;
  }
  for (const Row& row : rows) {
    Json json = {
        {"task", row.key.hex()}, {"title", row.title}, {"flop", row.flop}, {"weight", row.weight}};
    if (const auto& record = row.choice->record) {
      json["best_ns"] = record->verdict.latency_ns;
      json["protocol"] = print_protocol(record->protocol);
    }
    context.out << print_json(json) << "\n";
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_tasks(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->model.what, "a model, such as resnet50.onnx")->required();
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    const Status named = check_named_records(app, options->records);
    if (!named) return std::unexpected(named.error());
    return run_tasks(context, *options);
  };
}

}  // namespace tilewright::cli
