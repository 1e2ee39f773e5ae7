// `tilewright tune WHAT...`: searches the space of each workload, or of each kernel of a model, for
// its fastest schedule. All that is measured goes into the store; a run that was stopped is gone on
// with, one that is repeated measures nothing. docs/tuning.md.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/model_finals.h"
#include "cli/progress_printer.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/tune_outcome.h"
#include "cli/tune_tasks.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "cli/workers.h"
#include "cost/xgboost_model.h"
#include "runtime/host/peak.h"
#include "tune/models.h"

namespace tilewright::cli {
namespace {

constexpr double kPeakSeconds = 0.1;
constexpr double kLongestPeakSeconds = 0.25;
constexpr double kTables = 0.05;  // seconds that are kept for printing
// For finals inside a model: of the seconds given, at most, and where these are too few none.
constexpr double kModelFinalsShare = 0.15, kMostModelFinals = 60, kFewestSeconds = 20;

struct Options {
  std::vector<std::string> what;
  ModelChoice model_choice;  // how models among them are read
  std::string records = kDefaultRecords;
  TargetChoice target;
  int64_t trials = 0;
  double seconds = 0;
  int64_t patience = 0;
  uint64_t seed = 1;
  std::vector<std::string> space_off;
  std::string search = "evolution";
  std::string cost = "xgboost";
  std::string objective;
  std::vector<double> latency_targets_us;
  std::string cache;  // empty: as the tasks are run
  std::string model;
  std::string from_model;
  bool force = false;
  bool no_scheduler = false;
  bool no_warm_start = false;
  bool no_model_finals = false;
  size_t learn_from = tune::TaskTunerOptions().learn_from;
};

// A model is as fast as its tasks together.
Result<tune::Objective> objective_of(const Options& options, const TuneTasks& what) {
  tune::Objective objective;
  const size_t tasks = what.tasks.size();
  const std::string name = !options.objective.empty()    ? options.objective
                           : tasks > 1 && !what.of_model ? "geometric_mean"
                                                         : "sum";
  if (!options.latency_targets_us.empty() && name != "targets") {
    return fail(ErrorKind::BadInput, "--latency-targets goes with --objective targets");
  }
  for (const auto kind : {tune::ObjectiveKind::Sum, tune::ObjectiveKind::Targets,
                          tune::ObjectiveKind::GeometricMean, tune::ObjectiveKind::EarlyStopping}) {
    if (text_of(kind) != name) continue;
    objective.kind = kind;
    for (const double us : options.latency_targets_us) {
      if (!(us > 0)) return fail(ErrorKind::BadInput, "--latency-targets are above 0");
      objective.targets_ns.push_back(us * 1e3);
    }
    if (kind == tune::ObjectiveKind::Targets && objective.targets_ns.size() != tasks) {
      return fail(ErrorKind::BadInput,
                  fmt::format("--objective targets needs --latency-targets with {} number{}, "
                              "one a task, in microseconds",
                              tasks, tasks == 1 ? "" : "s"));
    }
    return objective;
  }
  return fail(ErrorKind::BadInput,
              fmt::format("there is no objective '{}'; there are sum, targets, geometric_mean, "
                          "early_stopping",
                          name));
}

std::string command_of(const Options& options) {
  std::string command = "tune";
  for (const std::string& word : options.what) command += " " + word;
  command +=
      fmt::format(" --seed {} --search {} --cost {}", options.seed, options.search, options.cost);
  command += words_of(options.model_choice);  // its flags: it has no model of its own
  for (const std::string& name : options.space_off) command += " --space-off " + name;
  if (!options.from_model.empty()) command += " --from-model " + options.from_model;
  if (options.no_warm_start) command += " --no-warm-start";
  if (options.force) command += " --force";
  return command;
}

// One run of the verb: what is printed while it goes on.
class TuneRun : public tune::LoopListener {
 public:
  TuneRun(const Context& context, const Options& options, const TuneTasks& what, double begin_s)
      : context_(context),
        what_(what),
        tasks_(what.tasks),
        begin_s_(begin_s),
        seconds_(options.seconds),
        terminal_(reaches_terminal(context.err)),
        progress_(context.err, terminal_) {}

  void set_budget(int64_t trials, double peak_gflops) {
    tally_.total = trials;
    peak_gflops_ = peak_gflops;
  }
  // Called after each trial with its task.
  void set_after_trial(std::function<void(size_t)> after) { after_trial_ = std::move(after); }

  void on_trial(size_t task, const tune::Proposal& /*proposal*/,
                const tune::Trial& trial) override {
    if (task != task_ || tally_.name.empty()) {
      task_ = task;
      tally_.name = what_.names[task];
      tally_.flop = tasks_[task].task.workload.dag->flop();
      tally_.peak_share = peak_share_of(tasks_[task].task.workload);
      tally_.best_ns = task < best_ns_.size() ? best_ns_[task] : 0;
    }
    tally_.add(trial);
    if (trial.is_timed() && (tally_.best_ns <= 0 || trial.latency_ns < tally_.best_ns)) {
      tally_.best_ns = trial.latency_ns;
      best_ns_.resize(tasks_.size());
      best_ns_[task] = trial.latency_ns;
    }
    if (context_.json) trials_.push_back(trial);
    if (after_trial_) after_trial_(task);
    const double now_s = seconds_now() - begin_s_;
    if (progress_.is_due(now_s)) print_progress(now_s);
  }

  void on_round(size_t task, const tune::RoundReport& report) override {
    tally_.scored += report.scored;
    tally_.search_s += report.propose_s;
    overhead_s_ += report.propose_s + report.learn_s;
    if (report.quality) quality_ = quality_text(what_.names[task], report);
    if (context_.json) {
      Json round = round_json(what_.names[task], report, trials_);
      round["task"] = tasks_[task].task.key().hex();
      round["weight"] = tasks_[task].weight;
      context_.out << print_json({{"round", std::move(round)}}) << "\n" << std::flush;
      trials_.clear();
    }
  }

  void add_stored(size_t trials) { tally_.stored += trials; }  // known without the search

  void finish() {
    if (tally_.trials() > 0) print_progress(seconds_now() - begin_s_);
    progress_.finish();
  }

  const TuneTally& tally() const { return tally_; }
  double overhead_s() const { return overhead_s_; }
  const std::string& quality() const { return quality_; }  // of the last scores

 private:
  // Until the trials are used up at this rate, or the time.
  double left_s(double now_s) const {
    double left = seconds_ > 0 ? seconds_ - now_s : tune::TimeBudget::kNoEnd;
    if (tally_.total > 0 && tally_.measured > 0) {
      const auto trials = static_cast<double>(tally_.total) - static_cast<double>(tally_.trials());
      left = std::min(left, trials * now_s / static_cast<double>(tally_.measured));
    }
    return std::max(left, 0.0);
  }
  void print_progress(double now_s) {
    progress_.print(tune_progress_line(tally_, peak_gflops_, now_s, left_s(now_s), terminal_),
                    now_s);
  }

  const Context& context_;
  const TuneTasks& what_;
  const std::vector<tune::TunedTask>& tasks_;
  double begin_s_;
  double seconds_;
  bool terminal_;
  ProgressPrinter progress_;
  TuneTally tally_;
  double peak_gflops_ = 0;
  double overhead_s_ = 0;
  size_t task_ = 0;
  std::vector<double> best_ns_;
  std::vector<tune::Trial> trials_;  // of the round, for its JSON
  std::string quality_;
  std::function<void(size_t)> after_trial_;
};

// In a model the weights of a kernel are cold when it is called.
std::string cache_of(const Options& options, const TuneTasks& what) {
  if (!options.cache.empty()) return options.cache;
  return what.of_model ? "weights_cold" : "warm";
}

Result<tune::TuningOptions> tuning_options(const Options& options, const TuneTasks& what) {
  tune::TuningOptions tuning;
  const Result<tune::SearchKind> search = tune::parse_search_kind(options.search);
  if (!search) return std::unexpected(search.error());
  const Result<tune::CostKind> cost = tune::parse_cost_kind(options.cost);
  if (!cost) return std::unexpected(cost.error());
  const Result<record::CachePolicy> cache = record::parse_own_cache_policy(cache_of(options, what));
  if (!cache) return std::unexpected(cache.error());
  Result<tune::Objective> objective = objective_of(options, what);
  if (!objective) return std::unexpected(objective.error());
  const Result<std::filesystem::path> workers = workers_folder();
  if (!workers) return std::unexpected(workers.error());
  tuning.search.search = *search;
  tuning.search.cost = *cost;
  tuning.search.seed = options.seed;
  tuning.search.learn_from = options.learn_from;
  tuning.search.warm_start = !options.no_warm_start;
  tuning.search.space.off = options.space_off;
  if (!options.from_model.empty()) {
    Result<tune::BaseModel> base = tune::load_base_model(options.from_model, *cost);
    if (!base) return std::unexpected(base.error());
    tuning.search.base = std::make_shared<const tune::BaseModel>(std::move(*base));
  }
  tuning.scheduler.patience = options.patience;
  tuning.scheduler.round_robin = options.no_scheduler;
  tuning.objective = std::move(*objective);
  tuning.measure.workers = *workers;
  tuning.measure.protocol.cache = *cache;
  tuning.trials = options.trials;
  if (options.trials == 0 && options.seconds <= 0) {
    tuning.trials = what.default_trials();
  }
  tuning.force = options.force;
  tuning.command = command_of(options);
  tuning.version = TILEWRIGHT_VERSION;
  return tuning;
}

double fma_peak(const std::vector<tune::TunedTask>& tasks, double seconds) {
  return runtime::measure_fma_peak(tasks[0].task.target.threads(), seconds).gflops;
}

Result<std::vector<TuneRow>> rows_of(const tune::Tuning& tuning, const TuneTasks& what,
                                     record::Store& store) {
  const Hash128 here = record::machine_id(detect_machine());
  std::vector<TuneRow> rows;
  for (size_t task = 0; task < tuning.size(); ++task) {
    const tune::TunedTask& one = tuning.task(task);
    rows.push_back({.name = what.names[task],
                    .key = one.task.key(),
                    .flop = one.task.workload.dag->flop(),
                    .weight = one.weight,
                    .peak_share = peak_share_of(one.task.workload),
                    .result = tuning.result(task)});
    if (!what.of_model) continue;
    const auto finals = deploy::last_finals(store, rows.back().key, here);
    if (!finals) return std::unexpected(finals.error());
    if (finals->empty()) continue;
    if (finals->front().protocol.cache != record::CachePolicy::InModel) continue;
    rows.back().in_model = finals->front();
  }
  return rows;
}

// What is said at the end, but for how long it took and what came of finals.
Result<TuneOutcome> outcome_of(const Options& options, const TuneTasks& what,
                               const tune::Tuning& tuning, record::Store& store,
                               const TuneRun& run) {
  Result<std::vector<TuneRow>> rows = rows_of(tuning, what, store);
  if (!rows) return std::unexpected(rows.error());
  return TuneOutcome{.rows = *std::move(rows),
                     .of_model = what.of_model,
                     .tally = run.tally(),
                     .overhead_s = run.overhead_s(),
                     .quality = run.quality(),
                     .trajectory = tuning.trajectory().key,
                     .resumed = !tuning.trajectory().is_new(),
                     .interrupted = Interrupt::requested(),
                     .records = options.records};
}

void print_outcome(const Context& context, const TuneOutcome& outcome) {
  if (context.json) {
    context.out << print_json({{"result", outcome_json(outcome)}}) << "\n";
  } else {
    context.out << outcome_text(outcome);
  }
}

// What was learnt; a run of too few trials has learnt nothing, which is no failure of it.
Status save_model(const Context& context, const tune::Tuning& tuning, const std::string& path) {
  const tune::TaskTuner* const tuner = tuning.loop().tuner(0);
  const auto* const model =
      tuner != nullptr ? dynamic_cast<const cost::XgboostModel*>(tuner->model()) : nullptr;
  if (model == nullptr) {
    context.err << "tilewright: --model: nothing was learnt from so few trials; " << path
                << " is not written\n";
    return {};
  }
  return cost::save_model_file(model->file(), path);
}

// Before anything is measured: a file can be written there.
Status check_writable(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  const char* why = nullptr;
  if (std::filesystem::is_directory(path, error)) {
    why = "it is a directory";
  } else if (!std::filesystem::is_directory(folder, error)) {
    why = "there is no such folder";
  } else if (access(folder.c_str(), W_OK) != 0) {
    why = "its folder cannot be written to";
  }
  if (why == nullptr) return {};
  return fail(ErrorKind::BadInput, fmt::format("--model {}: {}", path.string(), why));
}

Status check_flags(const Options& options, const TuneTasks& what) {
  const std::vector<tune::TunedTask>& tasks = what.tasks;
  const std::string_view of_models =
      options.no_model_finals ? "--no-model-finals" : model_flag_of(options.model_choice);
  if (!what.of_model && !of_models.empty()) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} is for models in files, and there is none", of_models));
  }
  if (Status off = space::check_off({.off = options.space_off}, tasks[0].task.target); !off) {
    return off;
  }
  const Result<tune::CostKind> cost = tune::parse_cost_kind(options.cost);
  if (!cost) return std::unexpected(cost.error());
  for (const auto& [flag, path] :
       {std::pair("--model", &options.model), {"--from-model", &options.from_model}}) {
    if (path->empty() || tune::learns(*cost)) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("{} goes with --cost xgboost: no other learns", flag));
  }
  if (options.model.empty()) return {};
  if (tasks.size() != 1) return fail(ErrorKind::BadInput, "--model goes with one task only");
  return check_writable(options.model);
}

ExitCode exit_code_of(const Context& context, const tune::Tuning& tuning, const TuneTally& tally) {
  if (Interrupt::requested()) return ExitCode::Interrupted;
  for (size_t task = 0; task < tuning.size(); ++task) {
    if (tuning.result(task).winner() != nullptr) return ExitCode::Done;
  }
  context.err << "tilewright: " << no_winner_text(tally) << "\n";
  return ExitCode::NothingValid;
}

// The larger of two: other work on the machine makes a peak look low.
double peak_again(const std::vector<tune::TunedTask>& tasks, double left_s, double peak_gflops) {
  const double seconds =
      std::isinf(left_s) ? kPeakSeconds : std::min(left_s - kTables, kLongestPeakSeconds);
  if (seconds < kTables || Interrupt::requested()) return peak_gflops;
  return std::max(peak_gflops, fma_peak(tasks, seconds));
}

// Only where kernels were tuned as they are called in a model.
bool holds_model_finals(const Options& options, const TuneTasks& what) {
  return !options.no_model_finals &&
         cache_of(options, what) == text_of(record::CachePolicy::WeightsCold);
}

// Seconds of those given that are kept for finals inside the models.
double model_finals_s(const Options& options, const TuneTasks& what) {
  if (!holds_model_finals(options, what) || options.seconds < kFewestSeconds) return 0;
  const double most = kMostModelFinals * static_cast<double>(what.plans.size());
  return std::min(kModelFinalsShare * options.seconds, most);
}

double left_of(const Options& options, double begin_s) {
  return options.seconds > 0 ? begin_s + options.seconds - seconds_now() : tune::TimeBudget::kNoEnd;
}

// Each has its share of what is left. `again`: also where nothing is new.
Status hold_in_models(const Context& context, const Options& options, const TuneTasks& what,
                      const Target& target, record::Store& store, bool again, double begin_s,
                      std::vector<ModelFinals>* held) {
  if (!holds_model_finals(options, what)) return {};
  ProgressPrinter progress(context.err, reaches_terminal(context.err));
  for (size_t k = 0; k < what.plans.size() && !Interrupt::requested(); ++k) {
    const double seconds = left_of(options, begin_s) - kLongestPeakSeconds;
    const ModelFinalsOptions with{.seconds = seconds / static_cast<double>(what.plans.size() - k),
                                  .again = again,
                                  .command = command_of(options) + " (finals in the model)",
                                  .version = TILEWRIGHT_VERSION,
                                  .say = [&](const std::string& text) { progress.print(text, 0); }};
    Result<ModelFinals> finals = hold_model_finals(what.plans[k], target, store, with);
    progress.finish();
    if (!finals) return std::unexpected(finals.error());
    if (finals->held || !finals->why_not.empty()) held->push_back(*std::move(finals));
  }
  return {};
}

// A model that was tuned before with this budget: its results from the store, without the search.
// Finals inside it that were not held then are held now.
Result<ExitCode> tell_known(const Context& context, const Options& options, const TuneTasks& what,
                            const Target& target, tune::Tuning& tuning, record::Store& store,
                            double begin_s) {
  if (const Status known = tuning.recall(); !known) return std::unexpected(known.error());
  TuneRun run(context, options, what, begin_s);
  for (size_t task = 0; task < tuning.size(); ++task) run.add_stored(tuning.result(task).trials);
  std::vector<ModelFinals> in_models;
  const Status held =
      hold_in_models(context, options, what, target, store, false, begin_s, &in_models);
  if (!held) return std::unexpected(held.error());
  Result<TuneOutcome> outcome = outcome_of(options, what, tuning, store, run);
  if (!outcome) return std::unexpected(outcome.error());
  outcome->all_s = seconds_now() - begin_s;
  outcome->in_models = std::move(in_models);
  print_outcome(context, *outcome);
  if (!context.json) {
    context.out << "tuned before with this budget: more --trials or --seconds go on\n";
  }
  return exit_code_of(context, tuning, run.tally());
}

Result<ExitCode> run_tune(const Context& context, const Options& options) {
  const double begin_s = seconds_now();
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  const Result<TuneTasks> what = tune_tasks_of(options.what, options.model_choice, *target);
  if (!what) return std::unexpected(what.error());
  const std::vector<tune::TunedTask>* const tasks = &what->tasks;
  if (const Status flags = check_flags(options, *what); !flags) {
    return std::unexpected(flags.error());
  }
  Result<tune::TuningOptions> tuning_with = tuning_options(options, *what);
  if (!tuning_with) return std::unexpected(tuning_with.error());
  Result<record::Store> store = record::Store::open(options.records);
  if (!store) return std::unexpected(store.error());

  const Interrupt interrupt;
  tune::TimeBudget budget(options.seconds - model_finals_s(options, *what), tasks->size(), begin_s,
                          seconds_now);
  bool in_finals = false;
  tuning_with->measure.stop = [&] {
    return Interrupt::requested() || !context.out.good() ||
           (in_finals ? budget.left_s() <= 0 : budget.trials_are_over());
  };
  TuneRun run(context, options, *what, begin_s);
  Result<tune::Tuning> tuning = tune::Tuning::start(*tasks, *store, *tuning_with);
  if (!tuning) return std::unexpected(tuning.error());
  const tune::Budget walk{.trials = tuning_with->trials, .seconds = options.seconds};
  if (what->of_model && tuning->is_done(walk)) {
    return tell_known(context, options, *what, *target, *tuning, *store, begin_s);
  }
  double peak_gflops = fma_peak(*tasks, kPeakSeconds);
  run.set_budget(tuning_with->trials, peak_gflops);
  std::vector<double> finals_s(tasks->size(), tune::TimeBudget::kNoEnd);
  run.set_after_trial([&](size_t task) {
    if (options.seconds <= 0) return;
    finals_s[task] = tuning->shortest_finals_s(task);
    budget.set_shortest_finals(*std::ranges::min_element(finals_s));
  });

  Status status = tuning->run(&run);
  run.finish();
  const double trials_end_s = seconds_now();
  in_finals = true;
  if (status && !Interrupt::requested() && context.out.good()) {
    status = tuning->hold_finals([&] { return Interrupt::requested() || budget.left_s() <= 0; },
                                 [&] { return budget.left_for_finals_s(); });
  }
  std::vector<ModelFinals> in_models;
  if (status && !Interrupt::requested() && context.out.good()) {
    status = hold_in_models(context, options, *what, *target, *store, run.tally().measured > 0,
                            begin_s, &in_models);
  }
  if (Interrupt::requested()) status = {};  // that is why it ended
  // Nothing could be tried: the reason is all there is to say.
  if (!status && run.tally().trials() == 0) return std::unexpected(status.error());
  const double all_finals_s = seconds_now() - trials_end_s;
  if (run.tally().measured > 0)
    peak_gflops = peak_again(*tasks, left_of(options, begin_s), peak_gflops);
  Result<TuneOutcome> outcome = outcome_of(options, *what, *tuning, *store, run);
  if (!outcome) return std::unexpected(outcome.error());
  outcome->all_s = seconds_now() - begin_s;
  outcome->finals_s = all_finals_s;
  outcome->peak_gflops = peak_gflops;
  outcome->in_models = std::move(in_models);
  print_outcome(context, *outcome);
  if (status && !options.model.empty()) status = save_model(context, *tuning, options.model);
  if (status && what->of_model && !Interrupt::requested()) status = tuning->note_done(walk);
  if (!status) return std::unexpected(status.error());
  return exit_code_of(context, *tuning, run.tally());
}

}  // namespace

Action declare_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "what", options->what,
         "models, such as resnet50.onnx, operators, such as matmul:m=512,n=512,k=512, names "
         "of the suite, or `suite` for all of it")
      ->required();
  declare_model_flags(app, &options->model_choice);
  declare_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  app.add_option("--trials", options->trials,
                 "so many candidates in all (default: 200 a task, fewer for what takes next to no "
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
  app.add_option("--search", options->search, "evolution, random or beam (default: evolution)");
  app.add_option("--cost", options->cost,
                 "the model that guides: xgboost (by rank), xgboost-squared (by squared error), "
                 "analytic, random or none (default: xgboost)");
  app.add_option("--objective", options->objective,
                 "of several tasks: sum, geometric_mean, targets or early_stopping, which ends a "
                 "task after 256 trials without improvement or --patience (default: "
                 "geometric_mean; of a model sum)");
  app.add_option("--latency-targets", options->latency_targets_us,
                 "for --objective targets: microseconds, one a task, separated by commas")
      ->delimiter(',');
  app.add_option("--cache", options->cache,
                 "before each sample: warm, cold or weights_cold (default: warm; of a model "
                 "weights_cold)");
  app.add_option("--learn-from", options->learn_from,
                 fmt::format("trials after which the learned model guides, and no longer the "
                             "analytic one (default: {})",
                             options->learn_from))
      ->check(CLI::Range(2, 1'000'000));
  app.add_flag("--no-scheduler", options->no_scheduler, "tasks take turns instead");
  app.add_flag("--no-warm-start", options->no_warm_start,
               "learn nothing from the records of other tasks");
  app.add_flag("--no-model-finals", options->no_model_finals,
               "of a model: do not compare the fastest schedules of its kernels inside it");
  app.add_flag("--force", options->force, "measure anew also what has a verdict in the store");
  app.add_option("--model", options->model, "write the learned cost model to this file");
  app.add_option("--from-model", options->from_model,
                 "begin with the cost model of this file, and add to it what is learnt");
  return [options](const Context& context) { return run_tune(context, *options); };
}

}  // namespace tilewright::cli
