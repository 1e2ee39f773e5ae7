#include "app/bench.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "app/loaded_model.h"
#include "base/clock.h"
#include "base/quantile.h"
#include "base/temporary_folder.h"
#include "deploy/export.h"
#include "runtime/abi/model_table.h"

namespace tilewright::app {
namespace {

// A timed instance pins the calling thread. Restores the thread's affinity on destruction.
class AffinityGuard {
 public:
  AffinityGuard() { sched_getaffinity(0, sizeof(cpus_), &cpus_); }
  ~AffinityGuard() { restore(); }
  AffinityGuard(const AffinityGuard&) = delete;
  AffinityGuard& operator=(const AffinityGuard&) = delete;
  void restore() const { sched_setaffinity(0, sizeof(cpus_), &cpus_); }

 private:
  cpu_set_t cpus_{};
};

constexpr double kSlow = 2;            // times the tuned time
constexpr double kClearlyNs = 10'000;  // less may be the clock, or threads that had to wake up

constexpr std::array kQuantiles = {0.1, measure::kModelLowQuantile, 0.5, 0.9, 0.99};

// A model to be timed.
struct Entrant {
  LoadedModel model;
  measure::ModelArrays arrays;
  runtime::ModelInstance instance;
  double load_s = 0;
};

Result<Entrant> load_entrant(const BenchOptions& options, const std::string& what,
                             const Target& target, const StopToken& stop) {
  ModelChoice choice = options.model;
  choice.what = what;
  const double begin_s = seconds_now();
  LoadedModel model = TRY(LoadedModel::load(choice, target, options.records, options.tables, stop));
  const double load_s = seconds_now() - begin_s;
  measure::ModelArrays arrays = TRY(make_arrays(model.api(), options.inputs, options.random_seed));
  runtime::ModelInstance instance =
      TRY(runtime::make_instance(model.api(), {.threads = options.target.threads,
                                               .flags = TILEWRIGHT_MODEL_PIN_CALLER,
                                               .weights_path = nullptr}));
  return Entrant{.model = std::move(model),
                 .arrays = std::move(arrays),
                 .instance = std::move(instance),
                 .load_s = load_s};
}

struct TimedEntrants {
  std::vector<Entrant> entrants;
  std::vector<measure::ModelTiming> timings;  // one per entrant
};

// Loads and times all models; empty after a stop before all were loaded.
Result<TimedEntrants> time_entrants(const BenchOptions& options, const Target& target,
                                    BenchListener& listener, const StopToken& stop) {
  const AffinityGuard affinity;
  TimedEntrants all;
  for (const std::string& what : options.what) {
    affinity.restore();
    Result<Entrant> entrant = load_entrant(options, what, target, stop);
    if (!entrant && stop.requested()) return TimedEntrants{};
    all.entrants.push_back(TRY(std::move(entrant)));
    listener.on_loaded(what, all.entrants.back().model.untuned());
  }
  std::vector<measure::TimedModel> models;
  models.reserve(all.entrants.size());
  for (const Entrant& one : all.entrants) {
    models.push_back({.api = &one.model.api(), .model = one.instance.get(), .arrays = &one.arrays});
  }
  all.timings = TRY(measure::time_models(
      models, {.seconds = options.seconds, .stop = [&] { return stop.requested(); }}));
  return all;
}

BenchedModel benched(const BenchOptions& options, const Entrant& entrant,
                     measure::ModelTiming timing) {
  const TilewrightModelApi& api = entrant.model.api();
  BenchedModel model;
  model.name = api.name;
  model.threads = options.target.threads > 0 ? options.target.threads : api.threads;
  model.tasks = group_steps(api, timing);
  std::ranges::sort(model.tasks, {},
                    [](const StepGroup& one) { return std::pair(-one.ns, one.title); });
  model.tasks_ns = std::accumulate(timing.steps_ns.begin(), timing.steps_ns.end(), 0.0);
  model.slow = find_slow_kernels(api, model.threads, timing);
  model.load_s = entrant.load_s;
  model.memory_bytes = api.memory(entrant.instance.get());
  model.untuned = entrant.model.untuned();
  for (const double share : kQuantiles) {
    model.quantiles.push_back({.share = share, .ns = quantile_of(timing.runs_ns, share)});
  }
  model.timing = std::move(timing);
  return model;
}

// The model file of the peers: of a .so the one it was compiled from.
PeersRun peers_of(const BenchOptions& options) {
  PeersRun run = options.peers;
  if (!is_library(options.what.front())) run.model = options.what.front();
  run.input_shapes = options.model.input_shapes;
  run.inputs = options.inputs;
  return run;
}

Result<std::string> compare_with_peers(const BenchOptions& options, const LoadedModel& model,
                                       int threads, const StopToken& stop) {
  PeersRun run = peers_of(options);
  run.library = options.what.front();
  run.threads = threads;
  if (model.program() == nullptr) return run_peers(run, stop);
  const TemporaryFolder folder = TRY(make_scratch_folder("tilewright-bench-"));
  run.library = folder / "model.so";
  TRY(deploy::export_shared(*model.program(), run.library));
  return run_peers(run, stop);
}

}  // namespace

std::vector<StepGroup> group_steps(const TilewrightModelApi& api,
                                   const measure::ModelTiming& timing) {
  std::vector<StepGroup> groups;
  for (size_t k = 0; k < timing.steps_ns.size(); ++k) {
    const std::string title = api.step_titles[k];
    auto found = std::ranges::find(groups, title, &StepGroup::title);
    if (found == groups.end()) {
      found = groups.insert(groups.end(), {.title = title, .count = 0, .ns = 0});
    }
    found->count += 1;
    found->ns += timing.steps_ns[k];
  }
  return groups;
}

std::vector<SlowKernel> find_slow_kernels(const TilewrightModelApi& api, int threads,
                                          const measure::ModelTiming& timing) {
  constexpr int32_t kFirstWithTimes = 2;  // version of the table
  const TilewrightModelTable& table = *api.table;
  if (table.version < kFirstWithTimes || threads != api.threads) return {};
  std::vector<SlowKernel> all(static_cast<size_t>(table.kernel_count));
  std::vector<size_t> order;
  for (size_t k = 0; k < timing.steps_ns.size(); ++k) {
    const auto kernel = static_cast<size_t>(table.steps[k].kernel);
    const auto tuned_ns = static_cast<double>(table.kernels[kernel].tuned_ns);
    SlowKernel& one = all[kernel];
    if (one.calls++ == 0) {
      order.push_back(kernel);
      one.title = api.step_titles[k];
      one.tuned_ns = tuned_ns;
    }
    const double ns = timing.steps_ns[k];
    const bool slow = tuned_ns > 0 && ns >= kSlow * tuned_ns && ns - tuned_ns >= kClearlyNs;
    if (!slow) continue;
    ++one.slow_calls;
    one.ns = std::max(one.ns, ns);
  }
  std::vector<SlowKernel> slow;
  for (const size_t kernel : order) {
    if (all[kernel].slow_calls > 0) slow.push_back(std::move(all[kernel]));
  }
  return slow;
}

Status check_bench(const BenchOptions& options) {
  if (options.what.empty()) {
    return fail(ErrorKind::BadInput, "nothing to time; name a model, such as resnet50.onnx");
  }
  const std::string& first = options.what.front();
  const bool with_peers = !options.peers.peers.empty();
  if (options.what.size() > 1) {
    const auto other = std::ranges::find_if_not(options.what, is_library);
    if (other != options.what.end() || with_peers) {
      return fail(
          ErrorKind::BadInput,
          other != options.what.end()
              ? fmt::format(
                    "{} is not a compiled model; only .so files can be compared with each other",
                    *other)
              : "peers are compared with one model");
    }
  }
  if (!with_peers) return {};
  TRY(check_peer_names(options.peers.peers));
  if (is_library(first) && options.peers.model.empty()) {
    return fail(ErrorKind::BadInput,
                "peers read .onnx: name the model file that the .so was compiled from",
                {{"peers.model", "FILE.onnx"}});
  }
  if (!is_library(first) && !is_model_file(first)) {
    return fail(ErrorKind::BadInput, "peers read .onnx: name a model, not an operator");
  }
  return check_peers_run(peers_of(options));
}

Result<BenchOutcome> bench(const BenchOptions& options, BenchListener& listener,
                           const StopToken& stop) {
  TRY(check_bench(options));
  const Target target = TRY(measured_target_of(options.target, options.tables));
  TimedEntrants timed = TRY(time_entrants(options, target, listener, stop));
  BenchOutcome outcome;
  for (size_t k = 0; k < timed.entrants.size(); ++k) {
    outcome.models.push_back(benched(options, timed.entrants[k], std::move(timed.timings[k])));
    listener.on_timed(outcome.models.back());
  }
  if (stop.requested() || options.peers.peers.empty()) return outcome;
  outcome.peers = TRY(compare_with_peers(options, timed.entrants.front().model,
                                         outcome.models.front().threads, stop));
  return outcome;
}

}  // namespace tilewright::app
