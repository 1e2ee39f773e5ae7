// `tilewright explain ID`, `tilewright explain OPERATOR --trace FILE`: app::explain with flags.
// `tilewright explain MODEL.so`: app::explain_model with flags.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "app/explain.h"
#include "app/explain_model.h"
#include "app/model_choice.h"
#include "base/json.h"
#include "cli/explain_model_report.h"
#include "cli/explain_report.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Flags {
  app::ExplainOptions candidate;
  app::ExplainModelOptions model;
  std::optional<double> seconds;
};

Result<ExitCode> run_explain(const Context& context, const app::ExplainOptions& options) {
  const Interrupt interrupt;
  const app::Explanation explanation = TRY(app::explain(options, interrupt.token()));
  print(context, explanation_text(explanation), explanation_json(explanation));
  if (!interrupt.requested()) return ExitCode::Done;
  return interrupted(context, "the ceilings of this machine were not measured");
}

Result<ExitCode> run_explain_model(const Context& context,
                                   const app::ExplainModelOptions& options) {
  const Interrupt interrupt;
  const std::optional<app::ExplainedModel> model =
      TRY(app::explain_model(options, interrupt.token()));
  if (!model) return interrupted(context, "the model was not measured");
  if (!context.json) {
    context.out << explained_model_text(*model);
    return ExitCode::Done;
  }
  for (const Json& line : explained_model_json(*model)) context.out << print_json(line) << "\n";
  return ExitCode::Done;
}

Result<ExitCode> run(const Context& context, const CLI::App& app, const Flags& flags) {
  const std::string& what = flags.candidate.what;
  if (!app::is_library(what) && !app::is_model_file(what)) {
    TRY(refuse_flags(app, {"--input", "--random"}, "is for a compiled model"));
    app::ExplainOptions options = flags.candidate;
    options.seconds = flags.seconds.value_or(options.seconds);
    return run_explain(context, options);
  }
  TRY(refuse_flags(app, {"--trace", "--target"},
                   "is not for a compiled model: that was decided when it was compiled"));
  TRY(check_named_records(app, flags.candidate.records));
  app::ExplainModelOptions options = flags.model;
  options.library = what;
  options.records = flags.candidate.records;
  options.threads = flags.candidate.target.threads;
  options.seconds = flags.seconds.value_or(options.seconds);
  return run_explain_model(context, options);
}

}  // namespace

Action declare_explain(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app::ExplainOptions* const options = &flags->candidate;
  app.add_option("WHAT", options->what,
                 "the id of an attempt, or its first digits; with --trace an operator or a name "
                 "of the suite; or a compiled model, such as resnet50.so")
      ->required();
  app.add_option("--trace", options->trace_file,
                 "explain the schedule in this file, without a record");
  app.add_option("--input", flags->model.inputs,
                 "of a compiled model: NAME=FILE.npy, or FILE.npy if there is one input; may be "
                 "repeated");
  app.add_option("--random", flags->model.random_seed,
                 "of a compiled model: seed of the inputs that are not given (default: 1)")
      ->check(natural_number());
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "with --trace 1, of a compiled model as it was compiled",
                       &options->target);
  app.add_option("--seconds", flags->seconds,
                 "measure the peak of this machine for N seconds; 0: skip (default: 0.4); of a "
                 "compiled model: run it for N seconds (default: 3)")
      ->check(number_between(0, 1e6));
  return [flags, &app](const Context& context) { return run(context, app, *flags); };
}

}  // namespace tilewright::cli
