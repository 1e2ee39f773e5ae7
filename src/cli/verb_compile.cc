// `tilewright compile MODEL_OR_OPERATOR -o out.so`: app::compile with flags and a summary.
// docs/deployment.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "app/compile.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/progress_printer.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Flags {
  app::CompileOptions options;
  std::string output;
  std::string weights = "embedded";
};

class KernelPrinter : public app::CompileListener {
 public:
  explicit KernelPrinter(std::ostream& err) : progress_(err, reaches_terminal(err)) {}

  void on_kernel(size_t done, size_t all) override {
    const double now_s = seconds_now() - begin_s_;
    if (progress_.is_due(now_s))
      progress_.print(fmt::format("{}/{}", done, counted(all, "kernel")), now_s);
  }
  void finish() { progress_.finish(); }

 private:
  double begin_s_ = seconds_now();
  ProgressPrinter progress_;
};

std::string untuned_text(const std::vector<app::UntunedTask>& untuned) {
  std::string text;
  for (const app::UntunedTask& one : untuned) {
    text += fmt::format("  {}  {}{}\n", short_id(one.key), one.title,
                        one.note.empty() ? "" : "; " + one.note);
  }
  return text;
}

std::string summary_text(const std::string& file, const app::CompileOutcome& outcome) {
  const double mib = 1024.0 * 1024.0;
  const auto to_mib = [&](auto size) { return static_cast<double>(size) / mib; };
  return fmt::format(
      "{}: {} ({} tuned) in {}, {:.1f} MiB of constants, {:.2f} MiB of memory "
      "({:.2f} MiB without sharing), file of {:.1f} MiB, {:.1f} s\n",
      file, counted(outcome.kernels, "kernel"), outcome.tuned(), counted(outcome.steps, "step"),
      to_mib(outcome.constant_bytes), to_mib(outcome.arena_bytes), to_mib(outcome.sum_bytes),
      to_mib(outcome.file_bytes), outcome.seconds);
}

std::string winograd_text(const app::CompileOutcome& outcome) {
  const app::WinogradStep* const worst = outcome.worst_winograd();
  if (worst == nullptr) return "";
  return fmt::format(
      "by Winograd's algorithm: {}; rounding changes the sums by at most {:.1e} times the "
      "largest |input| of the step, {:.1f} times the bound of the direct convolution ({})\n",
      counted(outcome.winograd.size(), "step"), worst->bound, worst->against_direct(),
      worst->title);
}

Json winograd_json(const std::vector<app::WinogradStep>& steps) {
  Json list = Json::array();
  for (const app::WinogradStep& step : steps) {
    list.push_back({{"task", step.key.hex()},
                    {"title", step.title},
                    {"error_bound", step.bound},
                    {"direct_error_bound", step.direct}});
  }
  return list;
}

Json untuned_json(const std::vector<app::UntunedTask>& untuned) {
  Json list = Json::array();
  for (const app::UntunedTask& one : untuned) {
    list.push_back({{"task", one.key.hex()}, {"title", one.title}, {"note", one.note}});
  }
  return list;
}

Json summary_json(const std::string& file, const app::CompileOutcome& outcome) {
  return {{"file", file},
          {"kernels", outcome.kernels},
          {"steps", outcome.steps},
          {"untuned", untuned_json(outcome.untuned)},
          {"winograd", winograd_json(outcome.winograd)},
          {"constant_bytes", outcome.constant_bytes},
          {"arena_bytes", outcome.arena_bytes},
          {"sum_bytes", outcome.sum_bytes},
          {"file_bytes", outcome.file_bytes},
          {"seconds", outcome.seconds}};
}

// `beside` is an older form of `external`.
std::string older_kind(const std::string& kind) { return kind == "beside" ? "external" : kind; }

Result<ExitCode> run_compile(const Context& context, const Flags& flags) {
  app::CompileOptions options = flags.options;
  options.output = flags.output;
  options.external_weights = flags.weights == "external";
  KernelPrinter progress(context.err);
  const Interrupt interrupt;
  Result<app::CompileOutcome> compiled = app::compile(options, progress, interrupt.token());
  progress.finish();
  const app::CompileOutcome outcome = TRY(std::move(compiled));
  if (outcome.stopped) {
    return interrupted(context, fmt::format("{} is not written", flags.output));
  }
  if (!outcome.written) {
    const std::string message =
        fmt::format("{} of {} without a record in {}", outcome.untuned.size(),
                    counted(outcome.kernels, "task"), options.records);
    context.err << fmt::format("tilewright: {}:\n{}", message, untuned_text(outcome.untuned));
    print_error_object(
        context,
        {{"kind", "not_tuned"}, {"message", message}, {"untuned", untuned_json(outcome.untuned)}});
    return ExitCode::NotTuned;
  }
  if (!outcome.untuned.empty()) {
    context.err << fmt::format(
        "tilewright: {} of {} not tuned, with their default schedule (`tilewright "
        "tune {}` tunes them):\n{}",
        outcome.untuned.size(), counted(outcome.kernels, "task"), words_of(options.model),
        untuned_text(outcome.untuned));
  }
  print(context, summary_text(flags.output, outcome) + winograd_text(outcome),
        summary_json(flags.output, outcome));
  return ExitCode::Done;
}

}  // namespace

Action declare_compile(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app::CompileOptions* const options = &flags->options;
  app.add_option("MODEL_OR_OPERATOR", options->model.what,
                 "a model, such as resnet50.onnx, or an operator, such as matmul:m=512,n=512,k=512")
      ->required();
  app.add_option("-o,--output", flags->output,
                 "the file to write: a library .so, an object .o or C source .c")
      ->required();
  declare_model_flags(app, &options->model);
  app.add_option("--constant", options->model.constants,
                 "the values of an operator's constant: NAME=FILE.npy; may be repeated");
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  app.add_option("--name", options->name,
                 "name of the model's symbol (default: the name of the output file)")
      ->check(not_empty());
  app.add_option("--weights", flags->weights,
                 "embed the weights in the file, or write them to a file next to it: embedded or "
                 "external (default: embedded)")
      ->transform(older_kind)
      ->check(CLI::IsMember({"embedded", "external"}));
  app.add_flag("--require-tuned", options->require_tuned,
               "fail with exit code 4 and name each task that has no record");
  return [flags, &app](const Context& context) -> Result<ExitCode> {
    TRY(check_named_records(app, flags->options.records));
    return run_compile(context, *flags);
  };
}

}  // namespace tilewright::cli
