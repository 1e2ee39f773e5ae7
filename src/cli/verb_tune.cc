// `tilewright tune WHAT...`: app::tune with flags, a line of progress and tables. docs/tuning.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "app/tune.h"
#include "app/workers.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/progress_printer.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/tune_outcome.h"
#include "cli/tune_report.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

// Prints what a run reports. Asks it to stop when nobody can read that.
class TunePrinter : public app::TuneListener {
 public:
  TunePrinter(const Context& context, StopSource stop)
      : context_(context),
        stop_(std::move(stop)),
        terminal_(reaches_terminal(context.err)),
        progress_(context.err, terminal_) {}

  void on_trial(const app::TuneProgress& progress) override {
    if (progress_.is_due(progress.elapsed_s)) print_line(progress);
    if (!context_.out.good()) stop_.request();
  }
  void on_round(const app::TuneRound& round) override {
    if (!context_.json) return;
    Json json = round_json(round.name, round.report, round.trials);
    json["task"] = round.task.hex();
    json["weight"] = round.weight;
    context_.out << print_json({{"round", std::move(json)}}) << "\n" << std::flush;
  }
  void on_search_end(const app::TuneProgress& progress) override {
    if (progress.tally.trials() > 0) print_line(progress);
    progress_.finish();
    if (!context_.out.good()) stop_.request();
  }
  void on_model_finals(size_t libraries) override {
    progress_.print(fmt::format("finals in the model: {} libraries", libraries), 0);
  }
  void on_model_finals_end() override { progress_.finish(); }

 private:
  void print_line(const app::TuneProgress& progress) {
    progress_.print(tune_progress_line(progress.tally, progress.peak_gflops, progress.elapsed_s,
                                       progress.left_s, terminal_),
                    progress.elapsed_s);
  }

  const Context& context_;
  StopSource stop_;
  bool terminal_;
  ProgressPrinter progress_;
};

void print_outcome(const Context& context, const app::TuneOutcome& outcome) {
  if (context.json) {
    context.out << print_json({{"result", outcome_json(outcome)}}) << "\n";
    return;
  }
  context.out << outcome_text(outcome);
  if (outcome.known) {
    context.out << "tuned before with this budget: more --trials or --seconds go on\n";
  }
}

struct Flags {
  app::TuneOptions options;
  bool no_scheduler = false, no_warm_start = false, no_model_finals = false;
};

Result<ExitCode> run_tune(const Context& context, const Flags& flags) {
  app::TuneOptions options = flags.options;
  options.scheduler = !flags.no_scheduler;
  options.warm_start = !flags.no_warm_start;
  options.model_finals = !flags.no_model_finals;
  options.workers = TRY(app::program_folder());
  const Interrupt interrupt;
  TunePrinter printer(context, interrupt.source());
  const app::TuneOutcome outcome = TRY(app::tune(options, printer, interrupt.token()));
  print_outcome(context, outcome);
  if (!outcome.status) return std::unexpected(outcome.status.error());
  if (outcome.nothing_learned) {
    context.err << "tilewright: --model: nothing was learnt from so few trials; "
                << options.model_file << " is not written\n";
  }
  if (interrupt.requested()) return ExitCode::Interrupted;
  if (outcome.has_winner()) return ExitCode::Done;
  context.err << "tilewright: " << no_winner_text(outcome.tally) << "\n";
  return ExitCode::NothingValid;
}

}  // namespace

Action declare_tune(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app::TuneOptions* const options = &flags->options;
  app.add_option(
         "what", options->what,
         "models, such as resnet50.onnx, operators, such as matmul:m=512,n=512,k=512, names "
         "of the suite, or `suite` for all of it")
      ->required();
  declare_model_flags(app, &options->model);
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  app.add_option(
         "--trials", options->trials,
         "so many candidates in all (default: 200 per task, fewer for what takes next to no "
         "time of a model, or no limit with --seconds)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--seconds", options->seconds, "end after that long, finals included")
      ->check(number_between(0.1, 1e9));
  app.add_option("--patience", options->patience,
                 "a task is done after so many trials without improvement (default: never)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--seed", options->seed, "of the search (default: 1)")->check(natural_number());
  app.add_option("--space-off", options->space_off,
                 "rules and extensions to leave out: NAME[,NAME] (`tilewright space --list`)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--search", options->search,
                 "explorer: NAME[:OPTION=VALUE,...] (default: evolution)\n" +
                     table_text(app::explorer_entries()));
  app.add_option("--cost", options->cost,
                 "cost model that guides: NAME[:OPTION=VALUE,...] (default: xgboost)\n" +
                     table_text(app::cost_model_entries()));
  app.add_option("--model-scope", options->model_scope,
                 "whom one cost model serves: `task`, or `run` for all tasks together, which then "
                 "learn from each other (default: task)");
  app.add_option("--objective", options->objective,
                 "of several tasks: sum, geometric_mean, targets or early_stopping, which ends a "
                 "task after 256 trials without improvement or --patience (default: "
                 "geometric_mean; of a model sum)");
  app.add_option("--latency-targets", options->latency_targets_us,
                 "for --objective targets: microseconds, one per task, separated by commas")
      ->delimiter(',');
  app.add_option("--cache", options->cache,
                 "before each sample: warm, cold or weights_cold (default: warm; of a model "
                 "weights_cold)");
  app.add_option("--learn-from", options->learn_from,
                 fmt::format("trials after which the learned model guides, and no longer the "
                             "analytic one (default: {})",
                             options->learn_from))
      ->check(CLI::Range(2, 1'000'000));
  app.add_flag("--no-scheduler", flags->no_scheduler, "tasks take turns instead");
  app.add_flag("--no-warm-start", flags->no_warm_start,
               "learn nothing from the records of other tasks");
  app.add_flag("--no-model-finals", flags->no_model_finals,
               "of a model: do not compare the fastest schedules of its kernels inside it");
  app.add_flag("--force", options->force, "measure anew also what has a verdict in the store");
  app.add_option("--model", options->model_file, "write the learned cost model to this file");
  app.add_option("--from-model", options->from_model,
                 "begin with the cost model of this file, and add to it what is learnt");
  return [flags](const Context& context) { return run_tune(context, *flags); };
}

}  // namespace tilewright::cli
