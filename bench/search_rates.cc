// ./dev bench search, part 1: the candidates that evolution scores per second, by stage.
//
//   bench_search_rates --records FILE [--json FILE]
//
// FILE is the store of a run of `tilewright tune C2D2 --trials 200`. A model is trained on its
// measurements, as after trial 200. Evolution then proposes batches, each without knowledge of the
// previous one: every counted candidate is unique, legal and new. The models are scored by
// XGBoost's predictor and by the evaluator of src/cost. No measurement is reported to evolution: it
// starts from random candidates, where a search at trial 200 starts from some of the measured ones.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/must_testing.h"
#include "bench/rows.h"
#include "cost/xgboost_model.h"
#include "feature/program_encoder.h"
#include "record/store.h"
#include "schedule/apply.h"
#include "schedule/trace.h"
#include "search/evolution.h"
#include "search/program_assessor.h"
#include "space/space.h"

namespace tilewright::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kTrials = 200;   // training samples of the model
constexpr size_t kProposed = 64;  // candidates per batch
constexpr double kSeconds = 3;    // measured time
constexpr int kMinRounds = 5;

// Of all threads of this process.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Arguments {
  std::string records, json;
};

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string_view word = words[k];
    if (word == "--records") arguments.records = words[k + 1];
    if (word == "--json") arguments.json = words[k + 1];
  }
  if (arguments.records.empty()) {
    throw std::runtime_error("usage: bench_search_rates --records FILE [--json FILE]");
  }
  return arguments;
}

// The first kTrials programs of the store's one task, with their rows.
cost::Samples samples_of(record::Store& store, const Task& task, const Machine& machine) {
  cost::Samples samples;
  const schedule::LoopTree initial = must(schedule::initial_tree(task.workload));
  const std::vector<std::string> encodings = {"features"};
  feature::ProgramEncoder encoder = must(feature::ProgramEncoder::make(
      {.task = &task, .machine = &machine, .initial = &initial}, encodings));
  must(store.for_each_attempt(task.key(), [&](const record::Attempt& attempt) {
    const auto trace = schedule::trace_from_text(attempt.trace);
    if (!trace || attempt.verdict.kind == record::VerdictKind::Device) return true;
    if (!encoder.append(*trace, &samples.inputs)) return true;
    samples.group.push_back(0);
    const bool failed = record::is_failure(attempt.verdict.kind);
    samples.latency_ns.push_back(failed ? 0 : attempt.verdict.latency_ns);
    return samples.size() < kTrials;
  }));
  return samples;
}

struct Rate {
  double wall_s = 0;
  double cpu_s =
      0;  // of all threads; less than wall times threads: they waited, or shared the CPUs
  int rounds = 0;
  search::AssessorCounts counts;
};

void add(const search::AssessorCounts& from, search::AssessorCounts* to) {
  to->requested += from.requested;
  to->illegal += from.illegal;
  to->rejected += from.rejected;
  to->known += from.known;
  to->scored += from.scored;
  to->instantiate_s += from.instantiate_s;
  to->apply_s += from.apply_s;
  to->validity_s += from.validity_s;
  to->hash_s += from.hash_s;
  to->encode_s += from.encode_s;
  to->predict_s += from.predict_s;
}

// Each round is a separate search, with a new, empty assessor and another seed.
Rate rate_of(const space::Space& space, const Machine& machine, const cost::CostModel& model) {
  Rate rate;
  while (rate.wall_s < kSeconds || rate.rounds < kMinRounds) {
    search::ProgramAssessor assessor(space, machine);
    assessor.set_model(&model);
    const auto explorer = search::make_evolution({.sketches = space.sketches(),
                                                  .assessor = &assessor,
                                                  .seed = static_cast<uint64_t>(rate.rounds + 1)});
    const double cpu_before_s = cpu_seconds();
    const Clock::time_point begin = Clock::now();
    const size_t found = explorer->ask(kProposed).size();
    const double took_s = seconds_since(begin);
    if (found == 0) throw std::runtime_error("evolution found nothing");
    if (rate.rounds++ == 0) continue;  // warms threads and memory
    rate.wall_s += took_s;
    rate.cpu_s += cpu_seconds() - cpu_before_s;
    add(assessor.counts(), &rate.counts);
  }
  return rate;
}

void print_rate(std::string_view name, const Rate& rate, int threads, Rows* rows) {
  const search::AssessorCounts& c = rate.counts;
  const auto scored = static_cast<double>(c.scored);
  const double per_s = scored / rate.wall_s;
  fmt::print(
      "{:<12}{:>9.0f} scored per second; {} rounds, of {} proposed: {} scored, {} seen before, "
      "{} illegal, {} rejected\n",
      name, per_s, rate.rounds - 1, c.requested, c.scored, c.known, c.illegal, c.rejected);
  rows->add(name, "scored_per_s", per_s);
  const std::pair<std::string_view, double> stages[] = {
      {"instantiate", c.instantiate_s}, {"apply", c.apply_s},
      {"validity", c.validity_s},       {"hash", c.hash_s},
      {"encode", c.encode_s},           {"predict", c.predict_s}};
  double known_s = 0;
  for (const auto& [stage, seconds] : stages) {
    known_s += seconds;
    fmt::print("  {:<14}{:>8.2f} us of one thread per scored candidate\n", stage,
               1e6 * seconds / scored);
    rows->add(name, fmt::format("{}_us", stage), 1e6 * seconds / scored);
  }
  fmt::print("  {:.2f} cpus used of {}\n", rate.cpu_s / rate.wall_s, threads);
  rows->add(name, "cpus_used", rate.cpu_s / rate.wall_s);
  const double rest_s = rate.wall_s * threads - known_s;
  fmt::print("  {:<14}{:>8.2f} us (varying, choosing, waiting)\n", "the rest",
             1e6 * rest_s / scored);
  rows->add(name, "rest_us", 1e6 * rest_s / scored);
}

int run_rates(const Arguments& arguments) {
  const Machine machine = detect_machine();
  record::Store store = must(record::Store::open(arguments.records, record::OpenAs::Reader));
  const auto tasks = must(store.tasks());
  if (tasks.size() != 1) throw std::runtime_error("the store must hold exactly one task");
  const Task task = must(record::task_of(tasks.front()));
  const space::Space space = must(space::Space::make(task));
  const cost::Samples samples = samples_of(store, task, machine);
  fmt::print("{}: {} sketches, model of {} programs, {} threads\n", task.workload.text,
             space.sketches().size(), samples.size(), machine.cpus.size());
  Rows rows;
  for (const auto& [name, evaluator] : {std::pair{"xgboost", cost::Evaluator::Xgboost},
                                        std::pair{"own forest", cost::Evaluator::OwnForest}}) {
    cost::XgboostOptions options;
    options.evaluator = evaluator;
    const auto model = cost::make_xgboost(options);
    must(model->train(samples));
    if (!model->is_trained()) throw std::runtime_error("no model: too few samples");
    print_rate(name, rate_of(space, machine, *model), static_cast<int>(machine.cpus.size()), &rows);
  }
  return arguments.json.empty() || rows.write(arguments.json) ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** words) {
  try {
    return tilewright::bench::run_rates(tilewright::bench::parse_arguments(count, words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
