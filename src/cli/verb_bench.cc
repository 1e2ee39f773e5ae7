// `tilewright bench model.so`: how long a compiled model, or a model file, takes: quantiles of
// whole runs, time by task beside their sum, and other libraries in turns with it. docs/models.md.
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>

#include "base/clock.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/loaded_model.h"
#include "cli/model_timing.h"
#include "cli/peers_run.h"
#include "cli/records_common.h"
#include "cli/scratch_folder.h"
#include "cli/target_choice.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "deploy/export.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::vector<std::string> what;
  ModelChoice model;  // the first of them
  TargetChoice target;
  std::string records = kDefaultRecords;
  std::vector<std::string> inputs;
  uint64_t seed = 1;
  double seconds = 3;
  std::string peers;
  std::string python;
  std::string onnx;  // of a .so: the model for the peers
  int rounds = 20;
};

constexpr std::array kQuantiles = {0.1, kLow, 0.5, 0.9, 0.99};

std::string text_of(const TilewrightModelApi& api, int threads, const ModelTiming& timing,
                    const std::vector<StepGroup>& groups, double sum_ns) {
  std::string text = fmt::format("{:>10}  {:>6}  {:>5}  {}\n", "time", "share", "calls", "task");
  for (const StepGroup& group : groups) {
    text += fmt::format("{:>10}  {:>5.1f} %  {:>5}  {}\n", duration_text(group.ns),
                        100 * group.ns / sum_ns, group.count, group.title);
  }
  text += fmt::format("{:>10}  tasks together, {:.1f} % of a run\n", duration_text(sum_ns),
                      100 * timing.share);
  text += fmt::format("{}: {} runs on {} thread{}: least {}", api.name, timing.runs_ns.size(),
                      threads, threads == 1 ? "" : "s", duration_text(timing.runs_ns.front()));
  for (const double q : kQuantiles) {
    text += fmt::format(", {:g} % {}", 100 * q, duration_text(quantile_of(timing.runs_ns, q)));
  }
  return text + "\n";
}

Json json_of(const TilewrightModelApi& api, int threads, const ModelTiming& timing,
             const std::vector<StepGroup>& groups, double sum_ns) {
  Json tasks = Json::array();
  for (const StepGroup& group : groups) {
    tasks.push_back({{"title", group.title}, {"calls", group.count}, {"ns", group.ns}});
  }
  Json json = {{"model", api.name},
               {"threads", threads},
               {"runs", timing.runs_ns.size()},
               {"least_ns", timing.runs_ns.front()},
               {"tasks", std::move(tasks)},
               {"tasks_ns", sum_ns},
               {"tasks_share", timing.share}};
  for (const double q : kQuantiles) {
    json[fmt::format("p{:g}_ns", 100 * q)] = quantile_of(timing.runs_ns, q);
  }
  return json;
}

PeersRun peers_run_of(const Context& context, const Options& options) {
  return {.model = is_library(options.model.what) ? options.onnx : options.model.what,
          .library = options.model.what,
          .peers = options.peers,
          .python = options.python,
          .input_shapes = options.model.input_shapes,
          .inputs = options.inputs,
          .rounds = options.rounds,
          .json = context.json};
}

Status compare_with_peers(const Context& context, const Options& options, const LoadedModel& model,
                          int threads) {
  std::optional<TemporaryFolder> folder;
  PeersRun run = peers_run_of(context, options);
  run.threads = threads;
  if (model.program() != nullptr) {
    Result<TemporaryFolder> made = make_scratch_folder("tilewright-bench-");
    if (!made) return std::unexpected(made.error());
    folder = *std::move(made);
    run.library = *folder / "model.so";
    const Status written = deploy::export_shared(*model.program(), run.library);
    if (!written) return written;
  }
  const Result<std::string> said = run_peers(run);
  if (!said) return std::unexpected(said.error());
  context.out << *said;
  return {};
}

Status check_flags(const Context& context, const Options& options, const CLI::App& app) {
  const Status flags =
      check_model_flags(app, options.model, options.records, !options.peers.empty());
  if (!flags) return flags;
  if (options.what.size() > 1) {
    const auto other = std::ranges::find_if_not(options.what, is_library);
    if (other != options.what.end() || !options.peers.empty()) {
      return fail(
          ErrorKind::BadInput,
          other != options.what.end()
              ? fmt::format("{} is no compiled model: several take turns only as .so", *other)
              : "--peers goes with one model");
    }
  }
  if (options.peers.empty()) {
    return refuse_flags(app, {"--onnx", "--python", "--rounds"}, "goes with --peers");
  }
  if (const Status names = check_peer_names(options.peers); !names) return names;
  const bool library = is_library(options.model.what);
  if (library && options.onnx.empty()) {
    return fail(ErrorKind::BadInput,
                "--peers with a .so needs the model it was made of: --onnx FILE.onnx");
  }
  if (!library && !is_model_file(options.model.what)) {
    return fail(ErrorKind::BadInput, "--peers goes with a model: they read .onnx");
  }
  return check_peers_run(peers_run_of(context, options));
}

// One that is timed.
struct Entrant {
  LoadedModel model;
  ModelArrays arrays;
  deploy::ModelInstance instance;
  double load_s = 0;
};

Result<Entrant> load_entrant(const Options& options, const std::string& what,
                             const Target& target) {
  ModelChoice choice = options.model;
  choice.what = what;
  const double begin_s = seconds_now();
  Result<LoadedModel> model = LoadedModel::load(choice, target, options.records);
  if (!model) return std::unexpected(model.error());
  const double load_s = seconds_now() - begin_s;
  Result<ModelArrays> arrays = make_arrays(model->api(), options.inputs, options.seed);
  if (!arrays) return std::unexpected(arrays.error());
  Result<deploy::ModelInstance> instance =
      deploy::make_instance(model->api(), {.threads = options.target.threads,
                                           .flags = TILEWRIGHT_MODEL_PIN_CALLER,
                                           .weights_path = nullptr});
  if (!instance) return std::unexpected(instance.error());
  return Entrant{.model = *std::move(model),
                 .arrays = *std::move(arrays),
                 .instance = *std::move(instance),
                 .load_s = load_s};
}

void print_timing(const Context& context, const Options& options, const Entrant& entrant,
                  const ModelTiming& timing) {
  const TilewrightModelApi& api = entrant.model.api();
  const int threads = options.target.threads > 0 ? options.target.threads : api.threads;
  std::vector<StepGroup> groups = group_steps(api, timing);
  const double sum_ns = std::accumulate(timing.steps_ns.begin(), timing.steps_ns.end(), 0.0);
  std::ranges::sort(groups, {}, [](const StepGroup& one) { return std::pair(-one.ns, one.title); });
  Json json = json_of(api, threads, timing, groups, sum_ns);
  json["load_s"] = entrant.load_s;
  json["memory_bytes"] = api.memory(entrant.instance.get());
  json["untuned"] = entrant.model.untuned();
  json["steps_low_ns"] = timing.low_ns;
  print(context, text_of(api, threads, timing, groups, sum_ns), json);
}

Result<ExitCode> run_bench(const Context& context, const Options& options) {
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  cpu_set_t cpus{};  // an instance that is timed pins this thread; what follows has them all
  sched_getaffinity(0, sizeof(cpus), &cpus);
  const Interrupt interrupt;
  std::vector<Entrant> entrants;
  for (const std::string& what : options.what) {
    sched_setaffinity(0, sizeof(cpus), &cpus);
    Result<Entrant> entrant = load_entrant(options, what, *target);
    if (!entrant) return std::unexpected(entrant.error());
    entrants.push_back(*std::move(entrant));
    if (const size_t untuned = entrants.back().model.untuned(); untuned > 0) {
      context.err << fmt::format(
          "tilewright: {} of the tasks are not tuned and have their default schedule (`tilewright "
          "tasks {}` lists them)\n",
          untuned, what);
    }
  }
  std::vector<TimedModel> timed;
  timed.reserve(entrants.size());
  for (const Entrant& one : entrants) {
    timed.push_back({.api = &one.model.api(), .model = one.instance.get(), .arrays = &one.arrays});
  }
  const Result<std::vector<ModelTiming>> timings = time_models(timed, options.seconds);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  if (!timings) return std::unexpected(timings.error());
  for (size_t k = 0; k < entrants.size(); ++k) {
    print_timing(context, options, entrants[k], (*timings)[k]);
  }
  if (Interrupt::requested()) return ExitCode::Interrupted;
  if (!options.peers.empty()) {
    context.out.flush();
    const int threads =
        options.target.threads > 0 ? options.target.threads : entrants.front().model.api().threads;
    const Status compared = compare_with_peers(context, options, entrants.front().model, threads);
    if (!compared) return std::unexpected(compared.error());
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what,
                 "a compiled model, such as resnet50.so, or a model file, such as resnet50.onnx; "
                 "several compiled ones take turns")
      ->required();
  app.add_option("--seconds", options->seconds, "that it is run for (default: 3)")
      ->check(number_between(0.01, 1e6));
  app.add_option("--input", options->inputs,
                 "NAME=FILE.npy, or FILE.npy where there is one input; may be repeated");
  app.add_option("--random", options->seed,
                 "a seed: inputs that are not given hold random numbers (default: 1)")
      ->check(natural_number());
  app.add_option("--peers", options->peers,
                 "other libraries, in turns with it: onnxruntime, openvino, or both by a comma");
  app.add_option("--rounds", options->rounds, "turns with the peers (default: 20)")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--onnx", options->onnx, "for --peers with a .so: the model file it was made of");
  app.add_option("--python", options->python,
                 "for --peers: a Python that has them (default: .venv of the source tree)");
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  return [options, &app](const Context& context) -> Result<ExitCode> {
    options->model.what = options->what.front();
    const Status flags = check_flags(context, *options, app);
    if (!flags) return std::unexpected(flags.error());
    return run_bench(context, *options);
  };
}

}  // namespace tilewright::cli
