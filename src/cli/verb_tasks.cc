// `tilewright tasks MODEL`: the distinct kernels of a model: key, FLOP, number of calls and best
// record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <utility>

#include "app/model_tasks.h"
#include "app/verdicts.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

std::string text_of(const app::ModelTasks& model) {
  std::string text = fmt::format("{:<12}  {:>8}  {:>6}  {:>10}  {:>15}  {}\n", "ID", "MFLOP",
                                 "weight", "best", "rate", "task");
  for (const app::ModelTask& row : model.tasks) {
    const double ns = row.record ? row.record->verdict.latency_ns : 0;
    text += fmt::format("{:<12}  {:>8.4g}  {:>6}  {:>10}  {:>15}  {}\n", short_id(row.key),
                        row.flop / 1e6, row.weight, ns > 0 ? duration_text(ns) : "-",
                        ns > 0 && row.flop > 0 ? rate_text(row.flop, ns) : "-", row.title);
  }
  text +=
      fmt::format("{}, {} with a record; those take {} per run\n",
                  counted(model.tasks.size(), "task"), model.tuned, duration_text(model.tuned_ns));
  return text;
}

Result<ExitCode> run_tasks(const Context& context, const app::ModelOptions& options) {
  const Interrupt interrupt;
  Result<app::ModelTasks> listed = app::model_tasks(options, interrupt.token());
  if (!listed && interrupt.requested()) return interrupted(context, "the model was not loaded");
  const app::ModelTasks model = TRY(std::move(listed));
  if (!context.json) {
    context.out << text_of(model);
    return ExitCode::Done;
  }
  for (const app::ModelTask& row : model.tasks) {
    Json json = {{"task", row.key.hex()},
                 {"title", row.title},
                 {"flop", row.flop},
                 {"bytes", row.bytes},
                 {"weight", row.weight}};
    if (row.record) {
      json["best_ns"] = row.record->verdict.latency_ns;
      json["protocol"] = app::protocol_name(row.record->protocol);
    }
    context.out << print_json(json) << "\n";
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_tasks(CLI::App& app) {
  auto options = std::make_shared<app::ModelOptions>();
  app.add_option("MODEL", options->model.what, "a model, such as resnet50.onnx")->required();
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    TRY(check_named_records(app, options->records));
    return run_tasks(context, *options);
  };
}

}  // namespace tilewright::cli
