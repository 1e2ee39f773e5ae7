// `tilewright run model.so --input x.npy`: app::run_model with flags; prints a summary of the
// outputs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "app/run_model.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

std::string text_of(const app::Digest& digest) {
  const std::string nans =
      digest.nans == 0 ? ""
                       : fmt::format("{} of {} NaN", digest.nans, digest.nans + digest.numbers);
  if (digest.numbers == 0) return nans.empty() ? "empty" : nans;
  return fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}{}{}", digest.low, digest.high,
                     digest.mean(), nans.empty() ? "" : ", ", nans);
}

void print_output(const Context& context, const app::RunOutput& output) {
  const std::string type = output.type.to_string();
  std::string text = fmt::format("{} {}: {}", output.name, type, text_of(output.digest));
  Json json = {{"output", output.name}, {"type", type}, {"nans", output.digest.nans}};
  if (output.digest.numbers > 0) {
    json["least"] = output.digest.low;
    json["largest"] = output.digest.high;
  }
  if (!output.file.empty()) {
    text += " -> " + output.file.string();
    json["file"] = output.file.string();
  }
  print(context, text + "\n", json);
}

Result<ExitCode> run_run(const Context& context, const app::RunOptions& options) {
  const Interrupt interrupt;
  const app::RunOutcome outcome = TRY(app::run_model(options, interrupt.token()));
  if (outcome.stopped) return interrupted(context, "the model did not run");
  for (const app::RunOutput& output : outcome.outputs) print_output(context, output);
  return ExitCode::Done;
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<app::RunOptions>();
  app.add_option("MODEL", options->model.what,
                 "a compiled model, such as resnet50.so, or a model file, such as resnet50.onnx")
      ->required();
  app.add_option("--input", options->inputs,
                 "NAME=FILE.npy, or FILE.npy if there is one input; may be repeated");
  app.add_option("--random", options->random_seed, "draw the other inputs at random with this seed")
      ->check(natural_number());
  app.add_option("--output", options->output, "write the outputs to this folder, as .npy files");
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    TRY(check_model_flags(app, options->model, options->records, false));
    return run_run(context, *options);
  };
}

}  // namespace tilewright::cli
