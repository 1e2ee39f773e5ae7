#include "tune/task_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "feature/program_encoder.h"
#include "feature/rows.h"
#include "heuristic/default_trace.h"
#include "schedule/apply.h"

namespace tilewright::tune {
namespace {

constexpr std::array<size_t, 5> kRoundSizes = {24, 32, 48, 48, 48};
// largest_round_of: the wanted duration of a round, and the predicted duration of a trial. Its call
// is that of a typical candidate, not of the fastest.
constexpr double kRoundSeconds = 8;
constexpr size_t kSmallestRound = 8, kSmallestOfMany = 4;
constexpr size_t kManyTasks = 8;  // more tasks have shorter rounds
constexpr double kFlopPerSecondOfThread = 2e10;
constexpr double kCallsOfTrial = 6;
constexpr double kOverheadSeconds = 0.05;  // building, loading, comparing

// Forwards candidates to the assessor until a stop is requested. From then on all candidates count
// as illegal, so that the search ends soon.
class StoppingAssessor : public search::Assessor {
 public:
  StoppingAssessor(const space::Space& space, const Machine& machine,
                   const TaskTunerOptions& options)
      : space_(space), machine_(machine), options_(options) {}

  void assess(std::span<search::Candidate> candidates) override {
    if (options_.stop && options_.stop()) has_stopped_ = true;
    if (has_stopped_) {
      for (search::Candidate& candidate : candidates) {
        candidate.program = {};
        candidate.score = 0;
      }
      return;
    }
    behind().assess(candidates);
  }

  search::ProgramAssessor& behind() {
    if (!behind_) {
      behind_ = std::make_unique<search::ProgramAssessor>(space_, machine_, options_.threads,
                                                          options_.tables.encodings);
      behind_->set_model(model_, encodings_);
    }
    return *behind_;
  }
  // `encodings`: those of the learned model, in which programs are encoded whichever model guides.
  void set_model(const cost::CostModel* model, std::span<const std::string> encodings) {
    model_ = model;
    encodings_ = encodings;
    if (behind_) behind_->set_model(model, encodings);
  }
  // True if candidates were not assessed: later proposals of an explorer are invalid.
  bool has_stopped() const { return has_stopped_; }
  int64_t scored() const { return behind_ ? behind_->counts().scored : 0; }
  int64_t applied_again() const { return behind_ ? behind_->counts().again : 0; }

 private:
  const space::Space& space_;
  const Machine& machine_;
  const TaskTunerOptions& options_;
  const cost::CostModel* model_ = nullptr;
  std::span<const std::string> encodings_;
  std::unique_ptr<search::ProgramAssessor> behind_;
  bool has_stopped_ = false;
};

// Of two equal times the lower hash wins, as in the store: a recalled search has the same winner.
bool is_faster(const Best& one, const Best& other) {
  return std::pair(one.trial.latency_ns, one.proposal.program) <
         std::pair(other.trial.latency_ns, other.proposal.program);
}

// Adds the versions of the encodings that the model reads. A task without an initial tree has no
// search.
Status add_versions(const TaskTunerOptions& options, std::span<const Task> tasks,
                    const Machine& machine, Hasher* hasher) {
  for (const Task& task : tasks) {
    const Result<schedule::LoopTree> initial = schedule::initial_tree(task.workload);
    if (!initial) continue;
    const Models models = TRY(make_models(options.cost, options.tables, task.target, machine,
                                          options.seed, options.base.get()));
    const cost::CostModel* const model =
        models.learned ? models.learned.get() : models.analytic.get();
    if (model == nullptr) return {};
    if (models.learned && !models.analytic) hasher->add_text("no guide");
    const std::vector<std::string> names = model->encodings();
    const feature::ProgramEncoder encoder = TRY(
        feature::ProgramEncoder::make({.task = &task, .machine = &machine, .initial = &*initial},
                                      names, options.tables.encodings));
    const std::vector<int> versions = encoder.versions();
    for (size_t k = 0; k < names.size(); ++k) {
      const Selection encoding = TRY(options.tables.encodings.parse(names[k]));
      hasher->add_text(encoding.text()).add_signed(versions[k]);
    }
    return {};
  }
  return {};
}

}  // namespace

Result<Hash128> hash_of(const TaskTunerOptions& options, std::span<const Task> tasks,
                        const Machine& machine) {
  Hasher hasher;
  hasher.add(kTuneVersion).add(feature::kFeatureVersion).add(options.seed);
  hasher.add(options.space.off.size());
  for (const std::string& name : options.space.off) hasher.add_text(name);
  hasher.add(options.space.custom.size());
  for (const space::SketchRule& rule : options.space.custom) hasher.add_text(rule.name);
  hasher.add_signed(options.space.cores);
  // Parsed again: a caller may have written a selection in another way.
  std::string from;
  if (options.space.from) {
    from = TRY(options.space.templates.parse(options.space.from->text())).text();
  }
  const Selection search = TRY(options.tables.explorers.parse(options.search.text()));
  const Selection cost = TRY(options.tables.parse_model(options.cost.text()));
  hasher.add_text(from).add_text(search.text()).add_text(cost.text());
  hasher.add(options.warm_start ? 1 : 0).add(options.carry ? 1 : 0).add(options.base ? 1 : 0);
  if (options.base) hasher.add(options.base->hash.high).add(options.base->hash.low);
  TRY(add_versions(options, tasks, machine, &hasher));
  // Tasks with fast kernels have the same rounds whatever the budget, and the same trajectory.
  for (size_t k = 0; k < tasks.size(); ++k) {
    const size_t largest = largest_round_of(tasks[k], options);
    if (largest != options.largest_round) hasher.add(k).add(largest);
  }
  return hasher.add(options.largest_round)
      .add(options.learn_from)
      .add(options.max_samples)
      .finish();
}

size_t round_size(size_t round, size_t largest) {
  return std::min(round < kRoundSizes.size() ? kRoundSizes[round] : size_t{64}, largest);
}

size_t largest_round_of(const Task& task, const TaskTunerOptions& options) {
  if (!options.by_time || !task.target.runs_on_cpu()) return options.largest_round;
  const double call_s =
      task.workload.dag->flop() / (kFlopPerSecondOfThread * task.target.threads());
  const double trials = kRoundSeconds / (kOverheadSeconds + kCallsOfTrial * call_s);
  const size_t alone = std::max(static_cast<size_t>(trials), kSmallestRound);
  if (alone >= options.largest_round || options.tasks <= kManyTasks) {
    return std::min(options.largest_round, alone);
  }
  return std::max(alone * kManyTasks / options.tasks, kSmallestOfMany);
}

struct TaskTuner::Impl {
  Impl(const Task& of, const Machine& on, space::Space in, Models chosen, TaskTunerOptions with)
      : task(of),
        machine(on),
        options(std::move(with)),
        space(std::move(in)),
        assessor(space, machine, options),
        models(std::move(chosen)) {}

  Task task;
  Machine machine;
  TaskTunerOptions options;
  space::Space space;
  StoppingAssessor assessor;
  Models models;
  std::vector<std::string> encodings;              // encodings that the learned model reads
  std::optional<feature::ProgramEncoder> encoder;  // computes them; none: nothing is learned
  std::unique_ptr<search::Explorer> explorer;
  std::shared_ptr<Learner> learner;  // null: nothing is learned
  size_t place = 0;                  // of the task in it
  int64_t version_seen = 0;          // of its model
  // Scores of the analytic model for the candidates that it guided.
  std::vector<float> analytic_scores;
  std::vector<double> analytic_ns;
  bool scores_unreliable = false;

  // The current round. The default schedule comes first and is not a candidate.
  std::vector<search::Candidate> candidates;
  std::vector<Proposal> proposals;
  bool is_carried = false;          // the candidates are schedules of similar tasks
  schedule::LoopTree default_tree;  // of the first round's first proposal
  bool is_proposed = false;
  double propose_s = 0;
  double learn_s = 0;        // before the first round
  size_t applied_again = 0;  // in this round, not counting the assessor's
  int64_t scored_before = 0, again_before = 0;
  std::string model_name;

  std::vector<Donation> donations;  // until the first round
  std::vector<Hash128> carried;     // programs
  size_t carried_rounds = 0;

  size_t rounds = 0, trials = 0;
  std::optional<Best> best;
  std::vector<Best> fastest;  // of the completed rounds
  std::optional<Proposal> default_proposal;
  std::optional<Trial> default_trial;

  const cost::CostModel* guide() const;
  std::string_view name_of_guide() const;
  Status check_base() const;
  Status add_default();
  void add_candidates();
  // `append_inputs(samples' inputs)` is false where the model cannot read the program.
  template <class AppendInputs>
  void add_sample(const Proposal& proposal, const Trial& trial, const AppendInputs& append_inputs);
  bool append_inputs(const Proposal& proposal, const search::Candidate& candidate,
                     feature::Inputs* inputs);
  bool append_default_inputs(feature::Inputs* inputs);
  void use_model();  // that guides now
  void check_analytic(std::span<const float> scores, std::span<const double> latencies);
  void consider(const Proposal& proposal, const Trial& trial);
  void keep_fastest(const Proposal& proposal, const Trial& trial);
  Status finish_round(std::span<const std::optional<Trial>> answers, RoundReport* report);
};

const cost::CostModel* TaskTuner::Impl::guide() const {
  if (learner && learner->guides(place)) return &learner->model();
  return scores_unreliable ? nullptr : models.analytic.get();
}

std::string_view TaskTuner::Impl::name_of_guide() const {
  const cost::CostModel* const model = guide();
  if (model == nullptr) return "none";
  return model == models.analytic.get() ? models.analytic_name : models.learned_name;
}

// If the analytic model ranks the measured candidates in the wrong order, by more than chance, it
// stops guiding. Until there are enough samples, no model guides: a model trained on a few misleads
// as well.
void TaskTuner::Impl::check_analytic(std::span<const float> scores,
                                     std::span<const double> latencies) {
  if (!learner || guide() != models.analytic.get()) return;
  analytic_scores.insert(analytic_scores.end(), scores.begin(), scores.end());
  analytic_ns.insert(analytic_ns.end(), latencies.begin(), latencies.end());
  const double deviation =
      1 / std::sqrt(std::max(1.0, static_cast<double>(analytic_scores.size()) - 1));
  scores_unreliable = cost::quality_of(analytic_scores, analytic_ns).rank_correlation < -deviation;
  explorer->set_scores_unreliable(scores_unreliable);
}

Status TaskTuner::Impl::add_default() {
  heuristic::DefaultProgram made = TRY(heuristic::default_program(task));
  const Hash128 program = made.program;
  default_tree = std::move(made.tree);
  default_proposal = {.trace = std::move(made.trace), .program = program};
  proposals.push_back(*default_proposal);
  // The space may have it too.
  const search::Outcome known{
      .candidate = {.sketch = search::kNoSketch, .genome = {}, .program = program},
      .latency_ns = 0};
  explorer->tell({&known, 1});
  return {};
}

// The assessor has made them when it applied the candidate.
bool TaskTuner::Impl::append_inputs(const Proposal& proposal, const search::Candidate& candidate,
                                    feature::Inputs* inputs) {
  if (assessor.behind().inputs_of(candidate, encodings, inputs)) return true;
  ++applied_again;  // they were dropped
  return encoder->append(
      {.trace = &proposal.trace, .sketch = candidate.sketch, .genome = &candidate.genome}, inputs);
}

bool TaskTuner::Impl::append_default_inputs(feature::Inputs* inputs) {
  return encoder->append({.tree = &default_tree, .trace = &default_proposal->trace}, inputs);
}

template <class AppendInputs>
void TaskTuner::Impl::add_sample(const Proposal& proposal, const Trial& trial,
                                 const AppendInputs& append_inputs) {
  // A failure of the device does not concern the candidate.
  if (!learner || trial.kind == record::VerdictKind::Device) return;
  cost::Samples& samples = learner->samples(place);
  if (!append_inputs(&samples.inputs)) return;
  samples.latency_ns.push_back(trial.label_ns());
  samples.trace.push_back(to_text(proposal.trace));
  samples.program.push_back(proposal.program);
}

// Schedules of similar tasks make a separate round: their results are known before the explorer
// proposes, and a first round of slow kernels is short.
void TaskTuner::Impl::add_candidates() {
  const size_t size = round_size(rounds - carried_rounds, largest_round_of(task, options));
  const size_t room = std::max(size - std::min(size, proposals.size()), size_t{1});
  const Hash128 known = default_proposal ? default_proposal->program : Hash128{};
  candidates = carried_candidates(space.sketches(), std::exchange(donations, {}), known,
                                  std::min(room, kMaxCarried), assessor);
  is_carried = !candidates.empty();
  if (!is_carried) candidates = explorer->ask(room);
  for (const search::Candidate& candidate : candidates) {
    Proposal& proposal = proposals.emplace_back();
    proposal.program = candidate.program;
    schedule::instantiate(space.sketches()[candidate.sketch], candidate.genome, &proposal.trace);
    if (is_carried) carried.push_back(candidate.program);
  }
}

void TaskTuner::Impl::consider(const Proposal& proposal, const Trial& trial) {
  if (!trial.is_timed()) return;
  const Best one{.proposal = proposal, .trial = trial};
  if (!best || is_faster(one, *best)) best = one;
}

void TaskTuner::Impl::keep_fastest(const Proposal& proposal, const Trial& trial) {
  if (!trial.is_timed()) return;
  const Best one{.proposal = proposal, .trial = trial};
  fastest.insert(std::ranges::lower_bound(fastest, one, is_faster), one);
  if (fastest.size() > kKeptFastest) fastest.pop_back();
}

void TaskTuner::Impl::use_model() {
  assessor.set_model(guide(), encodings);
  if (!learner) return;
  version_seen = learner->version();
  if (explorer && learner->guides(place)) explorer->set_scores_unreliable(false);
}

// Verdicts are reported in the order of proposal, whatever the order in which they arrived.
Status TaskTuner::Impl::finish_round(std::span<const std::optional<Trial>> answers,
                                     RoundReport* report) {
  const double begin_s = seconds_now();
  const size_t first = proposals.size() - candidates.size();
  std::vector<search::Outcome> outcomes;
  std::vector<float> scores;
  std::vector<double> latencies;
  for (size_t k = 0; k < proposals.size(); ++k) {
    CHECK(answers[k].has_value(), "no answer to a proposal");
    keep_fastest(proposals[k], *answers[k]);
    add_sample(proposals[k], *answers[k], [&](feature::Inputs* inputs) {
      return k < first ? append_default_inputs(inputs)
                       : append_inputs(proposals[k], candidates[k - first], inputs);
    });
    // A failure of the device does not concern the candidate.
    if (k < first || answers[k]->kind == record::VerdictKind::Device) continue;
    outcomes.push_back({.candidate = candidates[k - first], .latency_ns = answers[k]->label_ns()});
    scores.push_back(candidates[k - first].score);
    latencies.push_back(answers[k]->label_ns());
  }
  if (guide() != nullptr && !scores.empty() && !is_carried) {
    report->quality = cost::quality_of(scores, latencies);
    check_analytic(scores, latencies);
  }
  explorer->tell(outcomes);
  if (learner) TRY(learner->learn(place));
  use_model();
  if (options.kept_bytes) assessor.behind().shrink(*options.kept_bytes, candidates);
  trials += proposals.size();
  rounds += 1;
  carried_rounds += is_carried ? 1 : 0;
  candidates.clear();
  proposals.clear();
  is_proposed = false;
  default_tree = {};
  report->complete = true;
  report->applied_again = std::exchange(applied_again, 0) +
                          static_cast<size_t>(assessor.applied_again() - again_before);
  report->learn_s = std::exchange(learn_s, 0) + seconds_now() - begin_s;
  return {};
}

// A model of a file serves this task only if the encodings that it has learned from mean the same.
Status TaskTuner::Impl::check_base() const {
  if (!options.base) return {};
  if (!encoder->compares_across_tasks()) {
    return fail(ErrorKind::Unsupported,
                fmt::format("the cost model {} cannot start from a file: its encoding of a program "
                            "has a meaning within one task only",
                            options.cost.text()));
  }
  return models.learned->check_inputs(encoder->empty_inputs());
}

TaskTuner::TaskTuner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TaskTuner::TaskTuner(TaskTuner&&) noexcept = default;
TaskTuner& TaskTuner::operator=(TaskTuner&&) noexcept = default;
TaskTuner::~TaskTuner() = default;

Result<TaskTuner> TaskTuner::make(const Task& task, const Machine& machine,
                                  const TaskTunerOptions& options, std::span<const PastTrial> past,
                                  const cost::Samples& others, std::shared_ptr<Learner> learner) {
  space::Space space = TRY(space::Space::make(task, options.space));
  Models models = TRY(make_models(options.cost, options.tables, task.target, machine, options.seed,
                                  options.base.get()));
  auto impl = std::make_unique<Impl>(task, machine, std::move(space), std::move(models), options);
  if (impl->models.learned) {
    impl->learner =
        learner ? std::move(learner)
                : std::make_shared<Learner>(impl->models.learned,
                                            LearnerOptions{.tasks = 1,
                                                           .learn_from = options.learn_from,
                                                           .max_samples = options.max_samples});
    impl->place = impl->learner->join(others, origin_of(task, machine));
    impl->encodings = impl->models.learned->encodings();
    impl->encoder = TRY(feature::ProgramEncoder::make({.task = &impl->task,
                                                       .machine = &impl->machine,
                                                       .initial = &impl->space.initial(),
                                                       .sketches = impl->space.sketches()},
                                                      impl->encodings, options.tables.encodings));
    TRY(impl->check_base());
  }
  const double begin_s = seconds_now();
  if (past.size() > options.max_samples) past = past.last(options.max_samples);
  for (const PastTrial& trial : past) {
    impl->add_sample(trial.proposal, trial.trial, [&](feature::Inputs* inputs) {
      return impl->encoder->append(trial.proposal.trace, inputs);
    });
  }
  if (impl->learner) TRY(impl->learner->learn(impl->place));
  impl->learn_s = seconds_now() - begin_s;
  impl->use_model();
  const Hash128 key = task.key();
  impl->explorer = TRY(options.tables.explorers.make(
      options.search,
      {.sketches = impl->space.sketches(),
       .assessor = &impl->assessor,
       .seed = Hasher().add(options.seed).add(key.high).add(key.low).finish().low,
       .scores_unreliable = impl->models.mean_nothing() || impl->guide() == nullptr}));
  return TaskTuner(std::move(impl));
}

void TaskTuner::begin_with(std::vector<Donation> donations) {
  CHECK(impl_->rounds == 0 && !impl_->is_proposed, "the search has begun");
  impl_->donations = std::move(donations);
}

void TaskTuner::propose() {
  Impl& impl = *impl_;
  if (impl.is_proposed) return;
  const double begin_s = seconds_now();
  // Other tasks of the run may have trained it since.
  if (impl.learner && impl.learner->version() != impl.version_seen) impl.use_model();
  impl.scored_before = impl.assessor.scored();
  impl.again_before = impl.assessor.applied_again();
  impl.assessor.behind().begin_round();
  impl.model_name = impl.name_of_guide();
  if (impl.rounds == 0) {
    // A workload without a default schedule starts without one.
    if (const Status status = impl.add_default(); !status) impl.proposals.clear();
  }
  impl.add_candidates();
  impl.is_proposed = true;
  impl.propose_s = seconds_now() - begin_s;
}

Result<RoundReport> TaskTuner::try_round(TrialRunner& runner, size_t limit, const OnTrial& on_trial,
                                         const std::function<void()>& before_learning) {
  Impl& impl = *impl_;
  propose();
  RoundReport report;
  report.round = impl.rounds;
  report.model = impl.model_name;
  report.propose_s = impl.propose_s;
  report.scored = impl.assessor.scored() - impl.scored_before;
  const double begin_s = seconds_now();
  std::vector<std::optional<Trial>> answers(impl.proposals.size());
  const bool stopped = impl.assessor.has_stopped() || (impl.options.stop && impl.options.stop());
  if (!stopped) {
    report.proposed = impl.proposals.size();
    report.carried = impl.is_carried ? impl.candidates.size() : 0;
    const auto some = std::span(impl.proposals).first(std::min(limit, impl.proposals.size()));
    // The default schedule alone: it gives a first result before anything else.
    const size_t first = std::min(impl.proposals.size() - impl.candidates.size(), some.size());
    const auto try_some = [&](std::span<const Proposal> part, size_t offset) -> Status {
      if (part.empty()) return {};
      return runner.run(part, [&](size_t at, const Trial& trial) {
        const size_t k = offset + at;
        answers[k] = trial;
        report.tried += 1;
        report.stored += trial.stored ? 1 : 0;
        impl.consider(impl.proposals[k], trial);
        if (k < first) impl.default_trial = trial;
        if (on_trial) on_trial(impl.proposals[k], trial);
      });
    };
    TRY(try_some(some.first(first), 0));
    TRY(try_some(some.subspan(first), first));
  }
  report.try_s = seconds_now() - begin_s;
  if (!stopped && report.tried == impl.proposals.size()) {
    if (before_learning) before_learning();
    TRY(impl.finish_round(answers, &report));
  } else {
    impl.trials += report.tried;
  }
  report.best_ns = impl.best ? impl.best->trial.latency_ns : 0;
  return report;
}

const space::Space& TaskTuner::space() const { return impl_->space; }
size_t TaskTuner::rounds() const { return impl_->rounds; }
size_t TaskTuner::trials() const { return impl_->trials; }
const std::optional<Best>& TaskTuner::best() const { return impl_->best; }
std::span<const Best> TaskTuner::fastest() const { return impl_->fastest; }
std::span<const Hash128> TaskTuner::carried() const { return impl_->carried; }
const std::optional<Proposal>& TaskTuner::default_proposal() const {
  return impl_->default_proposal;
}
const std::optional<Trial>& TaskTuner::default_trial() const { return impl_->default_trial; }
const cost::CostModel* TaskTuner::model() const { return impl_->guide(); }
std::string_view TaskTuner::model_name() const { return impl_->name_of_guide(); }
const cost::Samples& TaskTuner::samples() const {
  static const cost::Samples none;
  return impl_->learner ? impl_->learner->samples(impl_->place) : none;
}
size_t TaskTuner::borrowed() const {
  return impl_->learner ? impl_->learner->borrowed(impl_->place) : 0;
}
const Learner* TaskTuner::learner() const { return impl_->learner.get(); }

}  // namespace tilewright::tune
