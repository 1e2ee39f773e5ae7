// `tilewright tune MODEL_OR_OPERATOR...`: app::tune with flags, a progress line and tables.
// docs/tuning.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "app/tune.h"
#include "base/counted.h"
#include "base/json.h"
#include "base/program_folder.h"
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

// Prints the progress of a run. Requests a stop when the output can no longer be written.
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
    progress_.print("finals in the model: " + counted(libraries, "library", "libraries"), 0);
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
    context.out << "already tuned with this budget; raise --trials or --seconds to continue\n";
  }
}

struct Flags {
  app::TuneOptions options;
  bool no_scheduler = false, no_warm_start = false, no_carry = false, no_model_finals = false;
};

std::string command_of(const app::TuneOptions& options) {
  std::string command = "tune";
  for (const std::string& word : options.what) command += " " + word;
  command +=
      fmt::format(" --seed {} --search {} --cost {}", options.seed, options.search, options.cost);
  command += words_of(options.model);  // flags of models; there is no model
  for (const std::string& name : options.space.off) command += " --space-off " + name;
  if (options.model_scope != app::TuneOptions().model_scope) {
    command += " --model-scope " + options.model_scope;
  }
  if (!options.from_model.empty()) command += " --from-model " + options.from_model;
  if (!options.warm_start) command += " --no-warm-start";
  if (!options.carry) command += " --no-carry";
  if (options.force) command += " --force";
  return command;
}

Result<ExitCode> run_tune(const Context& context, const Flags& flags) {
  app::TuneOptions options = flags.options;
  options.scheduler = !flags.no_scheduler;
  options.warm_start = !flags.no_warm_start;
  options.carry = !flags.no_carry;
  options.model_finals = !flags.no_model_finals;
  options.workers = TRY(program_folder());
  options.command = command_of(options);
  const Interrupt interrupt;
  TunePrinter printer(context, interrupt.source());
  const app::TuneOutcome outcome = TRY(app::tune(options, printer, interrupt.token()));
  print_outcome(context, outcome);
  TRY(outcome.status);
  if (!outcome.why_not_shared.empty()) {
    context.err << fmt::format(
        "tilewright: --model-scope {}: no effect with --cost {}: {}; each task has a model\n",
        options.model_scope, options.cost, outcome.why_not_shared);
  }
  if (outcome.nothing_learned) {
    context.err << "tilewright: --model: too few trials to train a cost model; "
                << options.model_file << " is not written\n";
  }
  if (interrupt.requested()) {
    if (outcome.rows.empty()) return ExitCode::Interrupted;  // as the outcome says
    return interrupted(context, fmt::format("{} keeps what was measured; the same command resumes",
                                            options.records));
  }
  if (outcome.has_winner()) return ExitCode::Done;
  context.err << "tilewright: " << no_winner_text(outcome.tally) << "\n";
  return ExitCode::NothingValid;
}

}  // namespace

Action declare_tune(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app::TuneOptions* const options = &flags->options;
  app.add_option("MODEL_OR_OPERATOR", options->what,
                 "models (resnet50.onnx), operators (matmul:m=512,n=512,k=512), names of the suite "
                 "(C2D2), or `suite` for all of them")
      ->required();
  declare_model_flags(app, &options->model);
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  app.add_option(
         "--trials", options->trials,
         "stop after N candidates in all (default: 200 per task, fewer for small tasks of a "
         "model; with --seconds no limit)")
      ->check(whole_number_between(1, app::kMaxTrials));
  app.add_option("--seconds", options->seconds, "stop after N seconds, finals included")
      ->check(number_between(app::kMinSeconds, app::kMaxSeconds));
  app.add_option("--patience", options->patience,
                 "end a task after N trials without improvement (default: never)")
      ->check(whole_number_between(1, app::kMaxTrials));
  app.add_option("--seed", options->seed, "seed of the search (default: 1)")
      ->check(natural_number());
  app.add_option("--space-off", options->space.off,
                 "turn off rules and extensions: NAME[,NAME] (`tilewright space --list`)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--search", options->search,
                 "explorer, as NAME[:OPTION=VALUE,...] (default: evolution)\n" +
                     table_text(app::explorer_entries()));
  app.add_option("--cost", options->cost,
                 "cost model, as NAME[:OPTION=VALUE,...] (default: xgboost)\n" +
                     table_text(app::cost_model_entries()));
  app.add_option("--model-scope", options->model_scope,
                 "train one cost model per task (`task`), or one for all tasks of the run (`run`) "
                 "(default: task)");
  app.add_option("--objective", options->objective,
                 "what to minimize over several tasks: sum, geometric_mean, targets or "
                 "early_stopping, which ends a task after 256 trials without improvement or "
                 "--patience (default: geometric_mean; for a model sum)");
  app.add_option("--latency-targets", options->latency_targets_us,
                 "with --objective targets: microseconds, one per task, separated by commas")
      ->delimiter(',');
  app.add_option("--cache", options->cache,
                 "state of the caches before each sample: warm, cold or weights_cold (default: "
                 "warm; for a model weights_cold)");
  app.add_option(
         "--learn-from", options->learn_from,
         fmt::format("use the learned cost model instead of the analytic one after N trials "
                     "(default: {})",
                     options->learn_from))
      ->check(whole_number_between(app::kMinLearnFrom, app::kMaxLearnFrom));
  app.add_flag("--no-scheduler", flags->no_scheduler,
               "give rounds to all tasks in turn (round robin)");
  app.add_flag("--no-warm-start", flags->no_warm_start,
               "do not train on the records of other tasks, nor begin with their schedules");
  app.add_flag("--no-carry", flags->no_carry,
               "do not begin with schedules of similar tasks, neither of records nor of this run");
  app.add_flag("--no-model-finals", flags->no_model_finals,
               "do not compare the fastest schedules inside the model");
  app.add_flag("--force", options->force, "also measure programs that have a verdict in the store");
  app.add_option("--model", options->model_file, "write the learned cost model to this file");
  app.add_option("--from-model", options->from_model,
                 "start with the cost model in this file; training adds to it");
  return [flags](const Context& context) { return run_tune(context, *flags); };
}

}  // namespace tilewright::cli
