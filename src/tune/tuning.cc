#include "tune/tuning.h"

#include <algorithm>
#include <bit>

#include "base/random_id.h"
#include "codegen/version.h"
#include "feature/program_encoder.h"
#include "heuristic/default_trace.h"
#include "schedule/apply.h"
#include "search/program_cache.h"
#include "task/similarity.h"
#include "tune/custom_parts.h"
#include "tune/donors.h"
#include "tune/warm_start.h"

namespace tilewright::tune {
namespace {

constexpr size_t kTasksWithCaches = 4;  // more tasks share the memory of 4

// If there are fewer trials than the first rounds take, rounds are smaller, so that each task gets
// one.
size_t largest_round(const TuningOptions& options, size_t tasks) {
  const size_t largest = options.search.largest_round;
  if (options.trials <= 0 || tasks <= 1) return largest;
  const size_t each = std::max(static_cast<size_t>(options.trials) / tasks, size_t{1});
  return each < round_size(0, largest) ? each : largest;
}

// Two rounds in flight if kernels leave CPUs idle.
int in_flight(const std::vector<TunedTask>& tasks, const Machine& machine) {
  if (tasks.size() < 2) return 1;
  const auto busy = std::ranges::max_element(
      tasks, {}, [](const TunedTask& one) { return one.task.target.threads(); });
  return static_cast<size_t>(busy->task.target.threads()) < machine.cpus.size() ? 2 : 1;
}

struct SearchHashes {
  Hash128 options, custom_parts;
};

Hash128 trajectory_key(const std::vector<TunedTask>& tasks, const Machine& machine,
                       const TuningOptions& options, int flights, const SearchHashes& search) {
  Hasher hasher;
  const auto add = [&](const Hash128& hash) { hasher.add(hash.high).add(hash.low); };
  hasher.add(tasks.size());
  for (const TunedTask& one : tasks) {
    add(one.task.key());
    hasher.add(std::bit_cast<uint64_t>(one.weight));
  }
  add(record::machine_id(machine));
  add(search.options);
  if (search.custom_parts != Hash128{}) add(search.custom_parts);
  if (options.model_scope == ModelScope::Run && tasks.size() > 1) hasher.add_text("model of run");
  hasher.add_text(record::print_protocol(options.measure.protocol));
  hasher.add_signed(codegen::kCodeGeneratorVersion).add_signed(flights);
  add(options.objective.hash(tasks.size()));
  if (tasks.size() > 1) {
    const SchedulerOptions& scheduler = options.scheduler;
    for (const double value :
         {scheduler.epsilon, scheduler.alpha, scheduler.beta, scheduler.noise}) {
      hasher.add(std::bit_cast<uint64_t>(value));
    }
    hasher.add_signed(scheduler.window).add_signed(scheduler.patience);
    hasher.add_signed(scheduler.invalid_rounds).add_signed(scheduler.group_rounds);
    hasher.add(scheduler.round_robin ? 1 : 0);
  }
  if (options.force) add(random_id());
  return hasher.finish();
}

std::vector<ScheduledTask> scheduled(const std::vector<TunedTask>& tasks) {
  std::vector<ScheduledTask> result;
  result.reserve(tasks.size());
  for (const TunedTask& one : tasks) {
    result.push_back(
        {.flop = one.task.workload.dag->flop(), .group = form_of(*one.task.workload.dag).group()});
  }
  return result;
}

// For tasks whose search has not begun.
Result<Proposal> default_proposal(const Task& task) {
  heuristic::DefaultProgram made = TRY(heuristic::default_program(task));
  return Proposal{.trace = std::move(made.trace), .program = made.program};
}

// The results of a task without replaying its search.
Result<TaskResult> recall_of(const record::KnownVerdicts& known, const Proposal& default_schedule) {
  TaskResult result;
  result.trials = known.size();
  for (const record::KnownVerdict* one : known.fastest(1)) {
    schedule::Trace trace = TRY(schedule::trace_from_text(one->trace));
    result.best = Best{.proposal = {.trace = std::move(trace), .program = one->program},
                       .trial = trial_of(*one)};
  }
  const record::KnownVerdict* const first = measure::known_verdict(known, default_schedule);
  if (first != nullptr) result.default_trial = trial_of(*first);
  return result;
}

}  // namespace

std::vector<GoalTerm> terms_of(std::span<const TunedTask> tasks, ObjectiveKind kind) {
  std::vector<GoalTerm> terms = separate_goals(tasks.size());
  if (kind == ObjectiveKind::Targets) return terms;
  for (size_t task = 0; task < tasks.size(); ++task) terms[task].weight = tasks[task].weight;
  return terms;
}

const Trial* TaskResult::winning_trial() const {
  if (!finals.empty() && finals.front().trial.is_timed()) return &finals.front().trial;
  return best ? &best->trial : nullptr;
}

const Proposal* TaskResult::winner() const {
  if (!finals.empty() && finals.front().trial.is_timed()) return &finals.front().proposal;
  return best ? &best->proposal : nullptr;
}

double TaskResult::default_ns() const {
  for (const StoredTrials::Final& one : finals) {
    if (one.is_default && one.trial.is_timed()) return one.trial.latency_ns;
  }
  // From its trial if the finals had no time for it.
  return default_trial && default_trial->is_timed() ? default_trial->latency_ns : 0;
}

bool TaskResult::began_with(const Hash128& program) const {
  return std::ranges::find(carried, program) != carried.end();
}

struct Tuning::Impl {
  Impl(std::vector<TunedTask> of, record::Store& into, TuningOptions with)
      : tasks(std::move(of)), store(into), options(std::move(with)), machine(detect_machine()) {}

  std::vector<TunedTask> tasks;
  record::Store& store;
  TuningOptions options;
  Machine machine;
  Trajectory trajectory;
  std::unique_ptr<SessionPool> pool;
  std::vector<std::unique_ptr<StoredTrials>> trials;  // per task, once it had a round
  std::unique_ptr<TuningLoop> loop;
  struct Finals {
    std::vector<StoredTrials::Final> list;
    bool held = false;
  };
  std::vector<Finals> finals;
  std::vector<TaskResult> recalled;  // per task, for a search that is not replayed

  LearnedInput input;                // empty: nothing is learned
  std::shared_ptr<Learner> learner;  // shared by all tasks; null: one per task
  std::string why_not_shared;
  std::optional<Donors> donors;  // empty until a task is prepared

  Status find_input();
  Result<StoredTrials*> trials_of(size_t task);
  Result<Proposal> default_of(size_t task) const;  // its default schedule
  Result<cost::Samples> samples_for(size_t task, const StoredTrials& known, size_t past);
  Result<std::vector<Donation>> donations_for(size_t task, const StoredTrials& known);
  LoopTasks loop_tasks();
  Status hold_finals_of(size_t task, double seconds);
};

Status Tuning::Impl::find_input() {
  input = {.encodings = {}, .table = &options.search.tables.encodings};
  if (tasks.empty()) return {};
  const TaskTunerOptions& search = options.search;
  const Models models = TRY(make_models(search.cost, search.tables, tasks[0].task.target, machine,
                                        search.seed, search.base.get()));
  const bool is_requested = options.model_scope == ModelScope::Run && tasks.size() > 1;
  if (!models.learned) {
    if (is_requested) why_not_shared = "the cost model does not learn";
    return {};
  }
  input.encodings = models.learned->encodings();
  if (!is_requested) return {};
  const bool one_target = std::ranges::all_of(
      tasks, [&](const TunedTask& one) { return one.task.target == tasks[0].task.target; });
  if (!one_target) {
    why_not_shared = "the tasks have different targets";
  } else if (!TRY(compares_across_tasks(tasks[0].task, machine, input))) {
    why_not_shared = "its encoding of a program has a meaning within one task only";
  }
  if (!why_not_shared.empty()) return {};
  learner =
      std::make_shared<Learner>(models.learned, LearnerOptions{.tasks = tasks.size(),
                                                               .learn_from = search.learn_from,
                                                               .max_samples = search.max_samples});
  return {};
}

Result<StoredTrials*> Tuning::Impl::trials_of(size_t task) {
  if (!trials[task]) {
    StoredTrials opened = TRY(StoredTrials::open(tasks[task].task, *pool, trajectory));
    trials[task] = std::make_unique<StoredTrials>(std::move(opened));
  }
  return trials[task].get();
}

Result<Proposal> Tuning::Impl::default_of(size_t task) const {
  const TaskTuner* const tuner = loop->tuner(task);
  if (tuner != nullptr && tuner->default_proposal()) return *tuner->default_proposal();
  return default_proposal(tasks[task].task);
}

// Samples of other tasks. The more tasks, the fewer for each: all of them are read and learned
// from.
Result<cost::Samples> Tuning::Impl::samples_for(size_t task, const StoredTrials& known,
                                                size_t past) {
  WarmStartOptions warm;
  warm.max_programs =
      std::clamp<size_t>(4 * warm.max_programs / tasks.size(), 200, warm.max_programs);
  const bool borrows = !input.encodings.empty() && options.search.warm_start;
  if (!borrows || options.force || borrowed_count(warm.max_programs, past) == 0) {
    return cost::Samples();
  }
  OtherSamples others = TRY(samples_of_others(store, tasks[task].task, machine, known.setting(),
                                              trajectory, input, warm));
  return std::move(others.samples);
}

// Schedules of similar tasks: of the store, unless the search starts without other records, and of
// the completed rounds of this run. A round in flight does not count, so that a replay has the
// same.
Result<std::vector<Donation>> Tuning::Impl::donations_for(size_t task, const StoredTrials& known) {
  if (!options.search.carry) return std::vector<Donation>();
  if (!donors) {
    const bool reads = options.search.warm_start && !options.force;
    donors.emplace(reads ? &store : nullptr, known.setting(), trajectory.begin_us);
  }
  std::vector<Sibling> siblings;
  for (size_t other = 0; other < tasks.size(); ++other) {
    const TaskTuner* const tuner = loop->tuner(other);
    if (other == task || tuner == nullptr) continue;
    siblings.push_back({.task = &tasks[other].task, .fastest = tuner->fastest()});
  }
  return donors->donations_for(tasks[task].task, siblings);
}

LoopTasks Tuning::Impl::loop_tasks() {
  return {.count = tasks.size(),
          .tuner = [this](size_t task) -> Result<TaskTuner> {
            StoredTrials* const known = TRY(trials_of(task));
            const std::vector<PastTrial> past = known->before();
            const cost::Samples others = TRY(samples_for(task, *known, past.size()));
            TaskTuner tuner = TRY(
                TaskTuner::make(tasks[task].task, machine, options.search, past, others, learner));
            tuner.begin_with(TRY(donations_for(task, *known)));
            return tuner;
          },
          .runner = [this](size_t task) -> Result<TrialRunner*> {
            StoredTrials* const runner = TRY(trials_of(task));
            return runner;
          }};
}

Tuning::Tuning(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tuning::Tuning(Tuning&&) noexcept = default;
Tuning& Tuning::operator=(Tuning&&) noexcept = default;
Tuning::~Tuning() = default;

Result<Tuning> Tuning::start(std::vector<TunedTask> tasks, record::Store& store,
                             const TuningOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(tasks), store, options);
  TuningOptions& kept = impl->options;
  const size_t count = impl->tasks.size();
  kept.search.tasks = count;
  kept.search.largest_round = largest_round(kept, count);
  if (count > kTasksWithCaches) {
    kept.search.kept_bytes = kTasksWithCaches * search::kCacheBytes / count;
  }
  kept.search.stop = kept.measure.stop;
  if (kept.objective.terms.empty()) {
    kept.objective.terms = terms_of(impl->tasks, kept.objective.kind);
  }
  const int flights = in_flight(impl->tasks, impl->machine);
  std::vector<Task> plain;
  for (const TunedTask& one : impl->tasks) plain.push_back(one.task);
  SearchHashes search;
  search.options = TRY(hash_of(kept.search, plain, impl->machine));
  search.custom_parts = TRY(hash_of_custom_parts(kept.search, plain, impl->machine));
  TRY(impl->find_input());
  const Hash128 key = trajectory_key(impl->tasks, impl->machine, kept, flights, search);
  impl->trajectory = TRY(enter_trajectory(store, key, kept.command, kept.version));
  impl->pool = std::make_unique<SessionPool>(
      store,
      measure::SessionOptions{.measure = kept.measure,
                              .command = impl->trajectory.command,
                              .version = kept.version,
                              .recall = kept.force ? record::Recall::Own : record::Recall::All,
                              .trajectory = key});
  impl->trials.resize(count);
  impl->finals.resize(count);
  impl->recalled.resize(count);
  impl->loop = std::make_unique<TuningLoop>(
      impl->loop_tasks(),
      Scheduler(scheduled(impl->tasks), kept.objective, kept.scheduler, kept.search.seed),
      LoopOptions{.trials = kept.trials,
                  .in_flight = flights,
                  .stop = kept.measure.stop,
                  .shares_model = impl->learner != nullptr});
  return Tuning(std::move(impl));
}

Status Tuning::run(LoopListener* listener) { return impl_->loop->run(listener); }

Status Tuning::hold_finals(const std::function<bool()>& stop,
                           const std::function<double()>& left_s) {
  std::vector<size_t> waiting;
  for (size_t task = 0; task < impl_->tasks.size(); ++task) {
    const StoredTrials* const trials = impl_->trials[task].get();
    if (trials != nullptr && !trials->known().fastest(1).empty()) waiting.push_back(task);
  }
  // Tasks that need no session first. Tasks whose share is too short divide the rest.
  std::ranges::sort(waiting, {}, [&](size_t task) {
    return std::pair(impl_->pool->opening_s(impl_->tasks[task].task) > 0, task);
  });
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<size_t> skipped;
    for (size_t k = 0; k < waiting.size(); ++k) {
      if (stop && stop()) return {};
      const size_t task = waiting[k];
      const double seconds =
          left_s ? left_s() / static_cast<double>(waiting.size() - k) : TimeBudget::kNoEnd;
      TRY(impl_->hold_finals_of(task, seconds));
      if (impl_->finals[task].list.empty()) skipped.push_back(task);
    }
    waiting = std::move(skipped);
  }
  return {};
}

Status Tuning::Impl::hold_finals_of(size_t task, double seconds) {
  const Proposal from = TRY(default_of(task));
  finals[task].list = TRY(trials[task]->finals(from, options.finals, seconds, &finals[task].held));
  return {};
}

bool Tuning::is_done(const Budget& budget) const { return trajectory().has_completed(budget); }

Status Tuning::note_done(double seconds) {
  return record_completed(impl_->store, impl_->trajectory,
                          {.trials = impl_->loop->trials(), .seconds = seconds});
}

Status Tuning::recall() {
  for (size_t task = 0; task < impl_->tasks.size(); ++task) {
    StoredTrials* const known = TRY(impl_->trials_of(task));
    const Result<Proposal> from = impl_->default_of(task);
    if (!from) continue;  // nothing was measured of it either
    impl_->finals[task].list = TRY(known->last_finals(*from));
    impl_->recalled[task] = TRY(recall_of(known->known(), *from));
  }
  return {};
}

double Tuning::shortest_finals_s(size_t task) const {
  const StoredTrials* const trials = impl_->trials[task].get();
  return trials != nullptr ? trials->shortest_finals_s() : 0;
}

size_t Tuning::size() const { return impl_->tasks.size(); }
const TunedTask& Tuning::task(size_t task) const { return impl_->tasks[task]; }
const Trajectory& Tuning::trajectory() const { return impl_->trajectory; }
const TuningLoop& Tuning::loop() const { return *impl_->loop; }
bool Tuning::shares_model() const { return impl_->learner != nullptr; }
const std::string& Tuning::why_not_shared() const { return impl_->why_not_shared; }

LearningCost Tuning::learning_cost() const {
  if (impl_->learner) return impl_->learner->cost();
  LearningCost all;
  for (size_t task = 0; task < impl_->tasks.size(); ++task) {
    const TaskTuner* const tuner = impl_->loop->tuner(task);
    if (tuner == nullptr || tuner->learner() == nullptr) continue;
    const LearningCost& one = tuner->learner()->cost();
    all.trainings += one.trainings;
    all.samples += one.samples;
    all.seconds += one.seconds;
  }
  return all;
}

TaskResult Tuning::result(size_t task) const {
  TaskResult result = impl_->recalled[task];
  result.end = impl_->loop->scheduler().state().tasks[task].end;
  result.problem = impl_->loop->problem(task);
  if (const TaskTuner* const tuner = impl_->loop->tuner(task)) {
    result.searched = true;
    result.rounds = tuner->rounds();
    result.trials = tuner->trials();
    result.borrowed = tuner->borrowed();
    result.carried.assign(tuner->carried().begin(), tuner->carried().end());
    result.best = tuner->best();
    result.default_trial = tuner->default_trial();
  }
  if (impl_->trials[task]) result.measured = impl_->trials[task]->measured();
  result.finals = impl_->finals[task].list;
  result.finals_held = impl_->finals[task].held;
  return result;
}

}  // namespace tilewright::tune
