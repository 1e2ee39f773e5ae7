#include "app/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "app/tune_tasks.h"
#include "app/workers.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/file.h"
#include "cost/models.h"
#include "runtime/host/peak.h"
#include "search/explorers.h"
#include "tune/models.h"
#include "tune/time_budget.h"
#include "tune/warm_start.h"

namespace tilewright::app {
namespace {

constexpr double kPeakSeconds = 0.1;
constexpr double kLongestPeakSeconds = 0.25;
constexpr double kReport = 0.05;  // seconds reserved for the report of the caller
// Finals inside a model: their share of the seconds, an upper limit, and none if there are fewer
// than kMinForModelFinals.
constexpr double kModelFinalsShare = 0.15, kMaxModelFinals = 60, kMinForModelFinals = 20;

// The latency of a model is the sum of its tasks.
Result<tune::Objective> objective_of(const TuneOptions& options, const TuneTasks& what) {
  tune::Objective objective;
  const size_t tasks = what.tasks.size();
  const std::string name = !options.objective.empty()    ? options.objective
                           : tasks > 1 && !what.of_model ? "geometric_mean"
                                                         : "sum";
  if (!options.latency_targets_us.empty() && name != "targets") {
    return fail(ErrorKind::BadInput, "latency targets need the objective targets",
                {{"objective", "targets"}});
  }
  for (const auto kind : {tune::ObjectiveKind::Sum, tune::ObjectiveKind::Targets,
                          tune::ObjectiveKind::GeometricMean, tune::ObjectiveKind::EarlyStopping}) {
    if (text_of(kind) != name) continue;
    objective.kind = kind;
    for (const double us : options.latency_targets_us) {
      if (!(us > 0)) return fail(ErrorKind::BadInput, "latency targets must be above 0");
      objective.targets_ns.push_back(us * 1e3);
    }
    if (kind == tune::ObjectiveKind::Targets && objective.targets_ns.size() != tasks) {
      return fail(ErrorKind::BadInput,
                  fmt::format("the objective targets needs {}, one per task, in "
                              "microseconds",
                              counted(tasks, "latency target")),
                  {{"latency_targets_us", ""}});
    }
    return objective;
  }
  return fail(ErrorKind::BadInput,
              fmt::format("there is no objective '{}'; there are sum, targets, geometric_mean, "
                          "early_stopping",
                          name));
}

// The origin of the verdicts in the store.
std::string command_of(const TuneOptions& options) {
  return !options.command.empty() ? options.command
                                  : fmt::format("tune {}", fmt::join(options.what, " "));
}

// In a model, the weights of a kernel are cold when it is called.
std::string cache_of(const TuneOptions& options, const TuneTasks& what) {
  if (!options.cache.empty()) return options.cache;
  return what.of_model ? "weights_cold" : "warm";
}

Result<tune::TuningOptions> tuning_options(const TuneOptions& options, const TuneTasks& what,
                                           const Target& target) {
  tune::TuningOptions tuning;
  tuning.search.tables = options.search_tables;
  tuning.search.search = TRY(options.search_tables.explorers.parse(options.search));
  tuning.search.cost = TRY(options.search_tables.parse_model(options.cost));
  tuning.measure.protocol.cache = TRY(record::parse_own_cache_policy(cache_of(options, what)));
  tuning.measure.protocol.back_end = codegen::recorded_name(target, options.tables.back_ends);
  tuning.objective = TRY(objective_of(options, what));
  TRY(check_workers(options.workers));
  tuning.model_scope = TRY(tune::parse_model_scope(options.model_scope));
  tuning.search.seed = options.seed;
  tuning.search.learn_from = options.learn_from;
  tuning.search.warm_start = options.warm_start;
  tuning.search.carry = options.carry;
  tuning.search.by_time = options.seconds > 0 && options.trials == 0;
  tuning.search.space = options.space;
  if (!options.from_model.empty()) {
    tuning.search.base = std::make_shared<const tune::BaseModel>(TRY(tune::load_base_model(
        options.from_model, tuning.search.cost, options.search_tables.models)));
  }
  tuning.scheduler.patience = options.patience;
  tuning.scheduler.round_robin = !options.scheduler;
  tuning.measure.workers = options.workers;
  tuning.measure.loaders = options.tables.loaders;
  tuning.trials = options.trials;
  if (options.trials == 0 && options.seconds <= 0) tuning.trials = what.default_trials();
  tuning.force = options.force;
  tuning.command = command_of(options);
  tuning.version = TILEWRIGHT_VERSION;
  return tuning;
}

// True if the cost model that this text names can be written to a file, and reads encodings that
// mean the same for the tasks that the file is then used for.
Result<bool> model_has_file(const tune::SearchTables& tables, const std::string& text,
                            const Task& task) {
  const Machine machine = detect_machine();
  const std::unique_ptr<cost::CostModel> model = TRY(tables.models.make(
      TRY(tables.parse_model(text)),
      {.target = &task.target, .machine = &machine, .seed = 1, .base = nullptr}));
  if (model == nullptr || !model->has_file()) return false;
  const Result<bool> compares = tune::compares_across_tasks(
      task, machine, {.encodings = model->encodings(), .table = &tables.encodings});
  return compares && *compares;
}

// The cost models that have one without options.
std::string models_with_file(const tune::SearchTables& tables, const Task& task) {
  std::vector<std::string> names;
  for (const cost::ModelRow& row : tables.models.rows()) {
    const Result<bool> has_file = model_has_file(tables, row.name, task);
    if (has_file && *has_file) names.push_back(row.name);
  }
  return names.empty() ? "no cost model has one" : fmt::format("use {}", fmt::join(names, " or "));
}

// Checks that need no model.
Status check_ranges(const TuneOptions& options) {
  const auto check = [](const char* option, auto value, auto low, auto high,
                        const char* or_zero) -> Status {
    if (value >= low && value <= high) return {};  // false for nan
    return fail(ErrorKind::BadInput,
                fmt::format("{} of {} is not {}from {} to {}", option, value, or_zero, low, high),
                {{option, ""}});
  };
  for (const auto& [option, value] :
       {std::pair("trials", options.trials), {"patience", options.patience}}) {
    TRY(check(option, value, int64_t{0}, kMaxTrials, ""));
  }
  if (options.seconds != 0) {
    TRY(check("seconds", options.seconds, kMinSeconds, kMaxSeconds, "0 or "));
  }
  return check("learn_from", options.learn_from, kMinLearnFrom, kMaxLearnFrom, "");
}

Status check_options(const TuneOptions& options, const TuneTasks& what) {
  const std::vector<tune::TunedTask>& tasks = what.tasks;
  std::optional<FileOption> of_models = file_option_of(options.model);
  if (!options.model_finals) of_models = {"model_finals", "finals inside a model"};
  if (!what.of_model && of_models) {
    return fail(ErrorKind::BadInput,
                fmt::format("{} are for model files, and there is none", of_models->what),
                {{std::string(of_models->field), ""}});
  }
  const Task& task = tasks[0].task;
  TRY(space::check_off(options.space, task.target));
  const bool has_file = TRY(model_has_file(options.search_tables, options.cost, task));
  for (const auto& [option, path] :
       {std::pair("model_file", &options.model_file), {"from_model", &options.from_model}}) {
    if (path->empty() || has_file) continue;
    return fail(ErrorKind::BadInput,
                fmt::format("the cost model {} has no file; {}", options.cost,
                            models_with_file(options.search_tables, task)),
                {{option, ""}});
  }
  if (options.model_file.empty()) return {};
  if (tasks.size() != 1) {
    return fail(
        ErrorKind::BadInput,
        fmt::format("a learned model is written for one task only, and there are {}", tasks.size()),
        {{"model_file", ""}});
  }
  return check_writable(options.model_file);
}

// 0 for kernels that do not run on the CPU.
double fma_peak(const std::vector<tune::TunedTask>& tasks, double seconds) {
  const Target& target = tasks[0].task.target;
  if (!target.runs_on_cpu()) return 0;
  return runtime::measure_fma_peak(target.threads(), seconds).gflops;
}

// The larger of the two: other processes make a peak look low.
double peak_again(const std::vector<tune::TunedTask>& tasks, double left_s, double peak_gflops,
                  const StopToken& stop) {
  const double seconds =
      std::isinf(left_s) ? kPeakSeconds : std::min(left_s - kReport, kLongestPeakSeconds);
  if (seconds < kReport || stop.requested()) return peak_gflops;
  return std::max(peak_gflops, fma_peak(tasks, seconds));
}

// True if finals inside models are on and the kernels were tuned with cold weights, as in a model.
bool holds_model_finals(const TuneOptions& options, const TuneTasks& what) {
  return options.model_finals &&
         cache_of(options, what) == text_of(record::CachePolicy::WeightsCold);
}

// The part of the seconds that is reserved for finals inside the models.
double model_finals_s(const TuneOptions& options, const TuneTasks& what) {
  if (!holds_model_finals(options, what) || options.seconds < kMinForModelFinals) return 0;
  const double max_s = kMaxModelFinals * static_cast<double>(what.plans.size());
  return std::min(kModelFinalsShare * options.seconds, max_s);
}

Result<std::vector<TuneRow>> rows_of(const tune::Tuning& tuning, const TuneTasks& what,
                                     record::Store& store, std::string_view back_end) {
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
    const auto finals = TRY(deploy::last_finals(store, rows.back().key, here, back_end));
    if (finals.empty()) continue;
    if (finals.front().protocol.cache != record::CachePolicy::InModel) continue;
    rows.back().in_model = finals.front();
  }
  return rows;
}

// Updates the tally of a run and notifies the listener.
class Observer : public tune::LoopListener {
 public:
  Observer(const TuneTasks& what, TuneListener& listener, double begin_s, double seconds)
      : what_(what), listener_(listener), begin_s_(begin_s), seconds_(seconds) {}

  void set_budget(int64_t trials, double peak_gflops) {
    tally_.total = trials;
    peak_gflops_ = peak_gflops;
  }
  // Called after each trial with its task.
  void set_after_trial(std::function<void(size_t)> after) { after_trial_ = std::move(after); }

  void on_trial(size_t task, const tune::Proposal& /*proposal*/,
                const tune::Trial& trial) override {
    if (task != task_ || tally_.name.empty()) begin_task(task);
    tally_.add(trial);
    if (trial.is_timed() && (tally_.best_ns <= 0 || trial.latency_ns < tally_.best_ns)) {
      tally_.best_ns = trial.latency_ns;
      best_ns_.resize(what_.tasks.size());
      best_ns_[task] = trial.latency_ns;
    }
    trials_.push_back(trial);
    if (after_trial_) after_trial_(task);
    listener_.on_trial(progress());
  }

  void on_round(size_t task, const tune::RoundReport& report) override {
    tally_.scored += report.scored;
    tally_.search_s += report.propose_s;
    overhead_s_ += report.propose_s + report.learn_s;
    if (report.quality) {
      scored_task_ = what_.names[task];
      scored_round_ = report;
    }
    listener_.on_round({.name = what_.names[task],
                        .task = what_.tasks[task].task.key(),
                        .weight = what_.tasks[task].weight,
                        .report = report,
                        .trials = trials_});
    trials_.clear();
  }

  void add_stored(size_t trials) { tally_.stored += trials; }  // known without a search
  void end_search() { listener_.on_search_end(progress()); }

  const TuneTally& tally() const { return tally_; }
  double overhead_s() const { return overhead_s_; }
  const std::string& scored_task() const { return scored_task_; }
  const tune::RoundReport& scored_round() const { return scored_round_; }

 private:
  void begin_task(size_t task) {
    task_ = task;
    tally_.name = what_.names[task];
    tally_.flop = what_.tasks[task].task.workload.dag->flop();
    tally_.peak_share = peak_share_of(what_.tasks[task].task.workload);
    tally_.best_ns = task < best_ns_.size() ? best_ns_[task] : 0;
  }
  // Until the trials are used up at this rate, or until the time is over.
  double left_s(double now_s) const {
    double left = seconds_ > 0 ? seconds_ - now_s : tune::TimeBudget::kNoEnd;
    if (tally_.total > 0 && tally_.measured > 0) {
      const auto trials = static_cast<double>(tally_.total) - static_cast<double>(tally_.trials());
      left = std::min(left, trials * now_s / static_cast<double>(tally_.measured));
    }
    return std::max(left, 0.0);
  }
  TuneProgress progress() const {
    const double now_s = seconds_now() - begin_s_;
    return {
        .tally = tally_, .elapsed_s = now_s, .left_s = left_s(now_s), .peak_gflops = peak_gflops_};
  }

  const TuneTasks& what_;
  TuneListener& listener_;
  double begin_s_;
  double seconds_;
  TuneTally tally_;
  double peak_gflops_ = 0;
  double overhead_s_ = 0;
  size_t task_ = 0;
  std::vector<double> best_ns_;
  std::vector<tune::Trial> trials_;  // of the round
  std::string scored_task_;
  tune::RoundReport scored_round_;
  std::function<void(size_t)> after_trial_;
};

// One call of tune, from its tasks to its outcome.
class TuneRun {
 public:
  TuneRun(const TuneOptions& options, const TuneTasks& what, const Target& target,
          record::Store& store, TuneListener& listener, const StopToken& stop, double begin_s)
      : options_(options),
        what_(what),
        target_(target),
        store_(store),
        listener_(listener),
        stop_(stop),
        begin_s_(begin_s),
        observer_(what, listener, begin_s, options.seconds) {}

  Result<TuneOutcome> run(tune::TuningOptions with) {
    tune::TimeBudget budget(options_.seconds - model_finals_s(options_, what_), what_.tasks.size(),
                            begin_s_, seconds_now);
    bool in_finals = false;
    with.measure.stop = [&] {
      return stop_.requested() || (in_finals ? budget.left_s() <= 0 : budget.trials_ended());
    };
    tune::Tuning tuning = TRY(tune::Tuning::start(what_.tasks, store_, with));
    const tune::Budget requested{.trials = with.trials, .seconds = options_.seconds};
    // A model file needs the trained model: the search is replayed.
    const bool recalls = what_.of_model && options_.model_file.empty();
    if (recalls && tuning.is_done(requested)) return recall(tuning);
    double peak_gflops = fma_peak(what_.tasks, kPeakSeconds);
    observer_.set_budget(with.trials, peak_gflops);
    std::vector<double> finals_s(what_.tasks.size(), tune::TimeBudget::kNoEnd);
    observer_.set_after_trial([&](size_t task) {
      if (options_.seconds <= 0) return;
      finals_s[task] = tuning.shortest_finals_s(task);
      budget.set_shortest_finals(*std::ranges::min_element(finals_s));
    });

    Status status = tuning.run(&observer_);
    const bool ended_by_time = options_.seconds > 0 && budget.trials_ended();
    observer_.end_search();
    const double trials_end_s = seconds_now();
    in_finals = true;
    if (status && !stop_.requested()) {
      status = tuning.hold_finals([&] { return stop_.requested() || budget.left_s() <= 0; },
                                  [&] { return budget.left_for_finals_s(); });
    }
    std::vector<ModelFinals> in_models;
    const TuneTally& tally = observer_.tally();
    if (status && !stop_.requested()) status = hold_in_models(tally.measured > 0, &in_models);
    if (stop_.requested()) status = {};  // the reason why it ended
    if (tally.trials() == 0) TRY(status);
    const double all_finals_s = seconds_now() - trials_end_s;
    if (tally.measured > 0) {
      peak_gflops = peak_again(what_.tasks, left_s(), peak_gflops, stop_);
    }
    TuneOutcome outcome = TRY(outcome_of(tuning));
    outcome.finals_s = all_finals_s;
    outcome.peak_gflops = peak_gflops;
    outcome.in_models = std::move(in_models);
    if (status && !options_.model_file.empty()) status = save_model(tuning, &outcome);
    if (status && what_.of_model && !stop_.requested()) {
      status = tuning.note_done(ended_by_time ? options_.seconds : 0);
    }
    outcome.status = status;
    return outcome;
  }

 private:
  double left_s() const {
    return options_.seconds > 0 ? begin_s_ + options_.seconds - seconds_now()
                                : tune::TimeBudget::kNoEnd;
  }

  // Each model gets a share of the remaining time. `again`: also if nothing is new.
  Status hold_in_models(bool again, std::vector<ModelFinals>* held) {
    if (!holds_model_finals(options_, what_)) return {};
    for (size_t k = 0; k < what_.plans.size() && !stop_.requested(); ++k) {
      const double seconds = left_s() - kLongestPeakSeconds;
      const ModelFinalsOptions with{
          .workers = options_.workers,
          .seconds = seconds / static_cast<double>(what_.plans.size() - k),
          .again = again,
          .command = command_of(options_) + " (finals in the model)",
          .version = TILEWRIGHT_VERSION,
          .tables = options_.tables,
          .on_libraries = [&](size_t count) { listener_.on_model_finals(count); }};
      Result<ModelFinals> ended = hold_model_finals(what_.plans[k], target_, store_, with, stop_);
      listener_.on_model_finals_end();
      ModelFinals finals = TRY(std::move(ended));
      if (finals.held || !finals.why_not.empty()) held->push_back(std::move(finals));
    }
    return {};
  }

  // A model that was tuned before with this budget: its results come from the store, without the
  // search. Finals inside it that were not held then are held now.
  Result<TuneOutcome> recall(tune::Tuning& tuning) {
    TRY(tuning.recall());
    for (size_t task = 0; task < tuning.size(); ++task) {
      observer_.add_stored(tuning.result(task).trials);
    }
    std::vector<ModelFinals> in_models;
    TRY(hold_in_models(false, &in_models));
    TuneOutcome outcome = TRY(outcome_of(tuning));
    outcome.known = true;
    outcome.in_models = std::move(in_models);
    return outcome;
  }

  // Excluding finals and peak measurements.
  Result<TuneOutcome> outcome_of(const tune::Tuning& tuning) {
    TuneOutcome outcome;
    outcome.rows = TRY(
        rows_of(tuning, what_, store_, codegen::recorded_name(target_, options_.tables.back_ends)));
    outcome.of_model = what_.of_model;
    outcome.model_time = model_time_of(outcome.rows);
    outcome.mean_gain = mean_gain_of(outcome.rows);
    outcome.tally = observer_.tally();
    outcome.overhead_s = observer_.overhead_s();
    outcome.learning = tuning.learning_cost();
    outcome.shares_model = tuning.shares_model();
    outcome.why_not_shared = tuning.why_not_shared();
    outcome.scored_task = observer_.scored_task();
    outcome.scored_round = observer_.scored_round();
    outcome.trajectory = tuning.trajectory().key;
    outcome.resumed = !tuning.trajectory().is_new();
    outcome.stopped = stop_.requested();
    outcome.records = options_.records;
    outcome.all_s = seconds_now() - begin_s_;
    return outcome;
  }

  // A run with too few trials has learned nothing, which is not an error.
  Status save_model(const tune::Tuning& tuning, TuneOutcome* outcome) const {
    const tune::TaskTuner* const tuner = tuning.loop().tuner(0);
    const cost::CostModel* const model = tuner != nullptr ? tuner->model() : nullptr;
    outcome->nothing_learned = model == nullptr || !model->learns();
    if (outcome->nothing_learned) return {};
    return write_file_atomically(options_.model_file, TRY(model->file_text()));
  }

  const TuneOptions& options_;
  const TuneTasks& what_;
  const Target& target_;
  record::Store& store_;
  TuneListener& listener_;
  const StopToken& stop_;
  double begin_s_;
  Observer observer_;
};

}  // namespace

std::vector<TableEntry> explorer_entries() { return search::explorers().entries(); }
std::vector<TableEntry> cost_model_entries() { return cost::models().entries(); }

bool TuneOutcome::has_winner() const {
  return std::ranges::any_of(rows,
                             [](const TuneRow& row) { return row.result.winner() != nullptr; });
}

Result<TuneOutcome> tune(const TuneOptions& options, TuneListener& listener,
                         const StopToken& stop) {
  const double begin_s = seconds_now();
  TRY(check_ranges(options));
  TRY(check_store_path(options.records));  // before any long work
  const Target target = TRY(measured_target_of(options.target, options.tables));
  Result<TuneTasks> planned =
      tune_tasks_of(options.what, options.model, target, options.tables, stop);
  if (!planned && stop.requested()) {
    TuneOutcome outcome;
    outcome.of_model = true;
    outcome.stopped = true;
    outcome.records = options.records;
    outcome.all_s = seconds_now() - begin_s;
    return outcome;
  }
  const TuneTasks what = TRY(std::move(planned));
  TRY(check_options(options, what));
  tune::TuningOptions with = TRY(tuning_options(options, what, target));
  record::Store store = TRY(open_store(options.records, record::OpenAs::Create));
  return TuneRun(options, what, target, store, listener, stop, begin_s).run(std::move(with));
}

}  // namespace tilewright::app
