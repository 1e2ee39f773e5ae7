#include "tune/custom_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "feature/program_encoder.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "space/space_hash.h"

namespace tilewright::tune {
namespace {

constexpr size_t kProbes = 48;   // programs
constexpr size_t kDraws = 2000;  // genomes drawn for them, at most
constexpr size_t kFirstProposed =
    16;                              // proposals of an explorer, before and after the first results
constexpr uint64_t kProbeSeed = 17;  // of the draws

void add(const Hash128& hash, Hasher* hasher) { hasher->add(hash.high).add(hash.low); }

// A synthetic latency.
double probe_latency_ns(const Hash128& program) {
  return 1e5 * (1 + static_cast<double>(program.low % 1000));
}

// Encodings of random programs, with latencies derived from their hashes.
Result<cost::Samples> probes_of(const space::Space& space, const Machine& machine,
                                feature::ProgramEncoder& encoder) {
  cost::Samples samples;
  samples.origins.emplace(0, origin_of(space.task(), machine));
  Rng rng(kProbeSeed);
  schedule::Trace trace;
  schedule::LoopTree tree;
  for (size_t draw = 0; draw < kDraws && samples.size() < kProbes; ++draw) {
    const size_t sketch = rng.below(space.sketches().size());
    const schedule::Genome genome = schedule::sample(space.sketches()[sketch], rng);
    schedule::instantiate(space.sketches()[sketch], genome, &trace);
    if (schedule::apply(space.initial(), trace, &tree)) continue;
    const bool encoded = encoder.append({.tree = &tree,
                                         .trace = &trace,
                                         .sketch = static_cast<uint16_t>(sketch),
                                         .genome = &genome},
                                        &samples.inputs);
    if (!encoded) continue;
    samples.group.push_back(0);
    samples.latency_ns.push_back(probe_latency_ns(program_hash(tree, space.task().target)));
    samples.trace.push_back(to_text(trace));
  }
  return samples;
}

// False if the encodings of the model represent no program of the space.
Result<bool> add_predictions(const TaskTunerOptions& options, const space::Space& space,
                             const Machine& machine, Hasher* hasher) {
  const Models models = TRY(make_models(options.cost, options.tables, space.task().target, machine,
                                        options.seed, options.base.get()));
  cost::CostModel* const model = models.learned ? models.learned.get() : models.analytic.get();
  if (model == nullptr) return true;
  feature::ProgramEncoder encoder =
      TRY(feature::ProgramEncoder::make({.task = &space.task(),
                                         .machine = &machine,
                                         .initial = &space.initial(),
                                         .sketches = space.sketches()},
                                        model->encodings(), options.tables.encodings));
  TRY(model->check_inputs(encoder.empty_inputs()));
  const cost::Samples probes = TRY(probes_of(space, machine, encoder));
  if (probes.size() == 0) return false;
  TRY(model->train(probes));
  std::vector<float> mean(probes.size());
  std::vector<float> spread(model->has_spread() ? probes.size() : 0);
  model->predict(probes.inputs, {.mean = mean, .spread = spread});
  for (const auto* numbers : {&mean, &spread}) {
    hasher->add(numbers->size());
    for (const float number : *numbers) hasher->add(std::bit_cast<uint32_t>(number));
  }
  return true;
}

Status add_first_proposals(const TaskTunerOptions& options, const space::Space& space,
                           const Machine& machine, Hasher* hasher) {
  search::ProgramAssessor assessor(space, machine, 1, options.tables.encodings);
  const auto explorer = TRY(options.tables.explorers.make(
      options.search, {.sketches = space.sketches(), .assessor = &assessor, .seed = options.seed}));
  // The second ones follow from the results of the first.
  for (int round = 0; round < 2; ++round) {
    std::vector<search::Outcome> outcomes;
    for (search::Candidate& candidate : explorer->ask(kFirstProposed)) {
      add(candidate.program, hasher);
      const double latency_ns = probe_latency_ns(candidate.program);
      outcomes.push_back({.candidate = std::move(candidate), .latency_ns = latency_ns});
    }
    hasher->add(outcomes.size());
    explorer->tell(outcomes);
  }
  return {};
}

bool has_custom_model(const TaskTunerOptions& options, const Task& task, const Machine& machine) {
  if (!options.tables.models.is_built_in(options.cost.name)) return true;
  const Result<Models> models = make_models(options.cost, options.tables, task.target, machine,
                                            options.seed, options.base.get());
  if (!models) return false;  // the caller reports why
  const cost::CostModel* const model =
      models->learned ? models->learned.get() : models->analytic.get();
  if (model == nullptr) return false;
  return !std::ranges::all_of(model->encodings(), [&](const std::string& name) {
    return options.tables.encodings.is_built_in(name.substr(0, name.find(':')));
  });
}

}  // namespace

Result<Hash128> hash_of_custom_parts(const TaskTunerOptions& options, std::span<const Task> tasks,
                                     const Machine& machine) {
  const space::SpaceOptions& of_space = options.space;
  const bool space_is_custom =
      !of_space.custom.empty() ||
      (of_space.from && !of_space.templates.is_built_in(of_space.from->name));
  const bool explorer_is_custom = !options.tables.explorers.is_built_in(options.search.name);
  const bool model_is_custom = !tasks.empty() && has_custom_model(options, tasks[0], machine);
  if (tasks.empty() || (!space_is_custom && !explorer_is_custom && !model_is_custom)) {
    return Hash128{};
  }
  Hasher hasher;
  hasher.add(space_is_custom ? 1 : 0).add(explorer_is_custom ? 1 : 0).add(model_is_custom ? 1 : 0);
  // The explorer enters by the first task that has a space, the model by the first one whose
  // programs it can read.
  bool probe_explorer = explorer_is_custom;
  bool probe_model = model_is_custom;
  size_t spaces = 0;
  for (const Task& task : tasks) {
    if (!space_is_custom && !probe_explorer && !probe_model) break;
    const Result<space::Space> space = space::Space::make(task, of_space);
    if (!space) continue;  // the task has no search
    ++spaces;
    if (space_is_custom) add(space::hash_of(space->sketches()), &hasher);
    if (std::exchange(probe_explorer, false)) {
      TRY(add_first_proposals(options, *space, machine, &hasher));
    }
    if (probe_model) probe_model = !TRY(add_predictions(options, *space, machine, &hasher));
  }
  if (probe_model && spaces > 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("the cost model {} can read no program of this run: its encodings "
                            "represent none of {} random programs per task",
                            options.cost.text(), kDraws));
  }
  return hasher.finish();
}

}  // namespace tilewright::tune
