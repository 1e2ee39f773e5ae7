// `tilewright measure OPERATOR (--traces FILE | --random N)`: app::measure with flags, progress and
// a summary.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>

#include "app/measure.h"
#include "base/json.h"
#include "base/program_folder.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/measure_report.h"
#include "cli/model_flags.h"
#include "cli/progress_printer.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

// Prints verdicts and progress. Requests a stop when they can no longer be written.
class MeasurePrinter : public app::MeasureListener {
 public:
  MeasurePrinter(const Context& context, StopSource stop)
      : context_(context),
        stop_(std::move(stop)),
        progress_(context.err, reaches_terminal(context.err)) {}

  void on_few_schedules(size_t drawn, size_t wanted) override {
    context_.err << fmt::format("the space has only {} distinct schedules, not {}\n", drawn,
                                wanted);
  }
  void on_start(double flop) override { flop_ = flop; }
  void on_answer(const app::MeasureTally& tally, const measure::Answer& answer,
                 double elapsed_s) override {
    if (context_.json) {  // flushed: a reported verdict is durable
      context_.out << print_json(answer_json(answer, flop_)) << "\n" << std::flush;
    }
    if (progress_.is_due(elapsed_s)) {
      progress_.print(progress_line(tally, flop_, elapsed_s), elapsed_s);
    }
    if (!context_.out.good()) stop_.request();
  }
  void on_measured(const app::MeasureTally& tally, double elapsed_s) override {
    progress_.print(progress_line(tally, flop_, elapsed_s), elapsed_s);
    progress_.finish();
  }
  void on_finals() override {
    context_.err << "finals: the fastest schedules, interleaved with the default schedule\n"
                 << std::flush;
  }

 private:
  const Context& context_;
  StopSource stop_;
  ProgressPrinter progress_;
  double flop_ = 0;
};

std::string summary_text(const app::MeasureOutcome& outcome, const std::string& records) {
  const app::MeasureTally& tally = outcome.tally;
  std::string text;
  if (!outcome.finals.empty()) {
    text += finals_text(outcome.finals, outcome.flop) + "\n";
  }
  text += failures_text(tally);
  text += fmt::format("{} timed, {} censored (clearly slow), {} failed",
                      tally.count(record::VerdictKind::Timed),
                      tally.count(record::VerdictKind::Censored), tally.answered() - tally.valid());
  text += tally.answered() < tally.total
              ? fmt::format("; stopped before {} more\n", tally.total - tally.answered())
              : "\n";
  if (tally.stored > 0) {
    text += fmt::format("{} already had a verdict and were not measured again\n", tally.stored);
  }
  return text + fmt::format("records: {}\n", records);
}

void print_summary_json(const Context& context, const app::MeasureOutcome& outcome,
                        const std::string& records) {
  const app::MeasureTally& tally = outcome.tally;
  const std::vector<app::MeasureFinal>& finals = outcome.finals;
  for (size_t k = 0; k < finals.size(); ++k) {
    context.out << print_json(final_json(finals[k], k + 1, outcome.flop)) << "\n";
  }
  Json summary = {{"task", outcome.task.key().hex()}, {"what", outcome.task.workload.text},
                  {"target", outcome.target},         {"records", records},
                  {"candidates", tally.total},        {"measured", tally.measured},
                  {"stored", tally.stored},           {"verdicts", verdicts_json(tally.by_kind)},
                  {"interrupted", outcome.stopped},   {"seconds", outcome.seconds}};
  if (outcome.seconds > 0) summary["trials_per_s"] = tally.trials_per_s(outcome.seconds);
  if (tally.best_ns > 0) {
    summary["best"] = {{"id", tally.best_id.hex()}, {"latency_ns", tally.best_ns}};
  }
  if (const double ns = outcome.default_ns(); ns > 0) summary["default_latency_ns"] = ns;
  if (!finals.empty() && finals.front().is_timed()) {
    summary["winner"] = finals.front().answer.attempt_id.hex();
  }
  context.out << print_json({{"summary", std::move(summary)}}) << "\n";
}

std::string command_of(const app::MeasureOptions& options) {
  std::string command = "measure " + options.what;
  if (!options.traces.empty()) command += " --traces " + options.traces;
  if (options.random > 0) command += fmt::format(" --random {}", options.random);
  command += fmt::format(" --cache {} --seed {}", options.cache, options.seed);
  if (options.force) command += " --force";
  return command;
}

Result<ExitCode> run_measure(const Context& context, app::MeasureOptions options) {
  options.command = command_of(options);
  options.workers = TRY(program_folder());
  const Interrupt interrupt;
  MeasurePrinter printer(context, interrupt.source());
  const app::MeasureOutcome outcome = TRY(app::measure(options, printer, interrupt.token()));
  if (!outcome.begun) {
    if (interrupt.requested()) return interrupted(context, "nothing was measured");
    context.err << "out of time before the reference was computed: nothing was measured\n";
    return ExitCode::NothingValid;
  }
  if (context.json) {
    print_summary_json(context, outcome, options.records);
  } else {
    context.out << summary_text(outcome, options.records);
  }
  TRY(outcome.status);
  if (interrupt.requested()) {
    return interrupted(context, fmt::format("{} keeps what was measured", options.records));
  }
  return outcome.tally.valid() > 0 ? ExitCode::Done : ExitCode::NothingValid;
}

}  // namespace

Action declare_measure(CLI::App& app) {
  auto options = std::make_shared<app::MeasureOptions>();
  app.add_option("OPERATOR", options->what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite")
      ->required();
  app.add_option(
      "--traces", options->traces,
      "file with the schedules: text with lines `---` between them, or one JSON array per line");
  app.add_option("--random", options->random, "draw N legal schedules instead")
      ->check(whole_number_between(1, 10'000'000));
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  app.add_option(
      "--cache", options->cache,
      "state of the caches before each sample: warm, cold or weights_cold (default: warm)");
  app.add_option("--seed", options->seed,
                 "seed of the random schedules and of the inputs (default: 1)")
      ->check(natural_number());
  declare_allow_flag(app, "permit changes of results: denormals (docs/measuring.md)",
                     &options->allow);
  app.add_flag("--force", options->force,
               "measure programs again that have a verdict in the store");
  app.add_option("--seconds", options->seconds, "start no trial after N seconds")
      ->check(number_between(0, 1e9));
  app.add_option("--finalists", options->finalists,
                 "measure the N fastest again at the end; 0: none (default: 8)")
      ->check(whole_number_between(0, 64));
  return [options](const Context& context) { return run_measure(context, *options); };
}

}  // namespace tilewright::cli
