// `tilewright bench model.so`: how long a compiled model, or a model file, takes: quantiles of
// whole runs, time by task beside their sum, and other libraries in turns with it. docs/models.md.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <ostream>

#include "base/clock.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/loaded_model.h"
#include "cli/model_timing.h"
#include "cli/peers_run.h"
#include "cli/records_common.h"
#include "cli/target_choice.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "deploy/export.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelChoice model;
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

constexpr std::array kQuantiles = {0.1, 0.5, 0.9, 0.99};

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

// A folder that goes with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "tilewright-bench-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }  // empty: it could not be made

 private:
  std::filesystem::path path_;
};

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
  const TemporaryFolder folder;
  PeersRun run = peers_run_of(context, options);
  run.threads = threads;
  if (model.program() != nullptr) {
    if (folder.path().empty()) return fail(ErrorKind::Io, "no temporary folder can be made");
    run.library = folder.path() / "model.so";
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

Result<ExitCode> run_bench(const Context& context, const Options& options) {
  const Result<Target> target = measured_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  cpu_set_t cpus{};  // an instance that is timed pins this thread; what follows has them all
  sched_getaffinity(0, sizeof(cpus), &cpus);
  const double begin_s = seconds_now();
  const Result<LoadedModel> model = LoadedModel::load(options.model, *target, options.records);
  if (!model) return std::unexpected(model.error());
  const double load_s = seconds_now() - begin_s;
  const TilewrightModelApi& api = model->api();
  const Result<ModelArrays> arrays = make_arrays(api, options.inputs, options.seed);
  if (!arrays) return std::unexpected(arrays.error());
  if (model->untuned() > 0) {
    context.err << fmt::format(
        "tilewright: {} of the tasks are not tuned and have their default schedule (`tilewright "
        "tasks {}` lists them)\n",
        model->untuned(), options.model.what);
  }
  const int threads = options.target.threads > 0 ? options.target.threads : api.threads;
  const Interrupt interrupt;
  const Result<deploy::ModelInstance> instance =
      deploy::make_instance(api, {.threads = options.target.threads,
                                  .flags = TILEWRIGHT_MODEL_PIN_CALLER,
                                  .weights_path = nullptr});
  if (!instance) return std::unexpected(instance.error());
  const Result<ModelTiming> timing = time_model(api, instance->get(), *arrays, options.seconds);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  if (!timing) return std::unexpected(timing.error());
  std::vector<StepGroup> groups = group_steps(api, *timing);
  const double sum_ns = std::accumulate(timing->steps_ns.begin(), timing->steps_ns.end(), 0.0);
  std::ranges::sort(groups, {}, [](const StepGroup& one) { return std::pair(-one.ns, one.title); });
  Json json = json_of(api, threads, *timing, groups, sum_ns);
  json["load_s"] = load_s;
  json["memory_bytes"] = api.memory(instance->get());
  json["untuned"] = model->untuned();
  print(context, text_of(api, threads, *timing, groups, sum_ns), json);
  if (Interrupt::requested()) return ExitCode::Interrupted;
  if (!options.peers.empty()) {
    context.out.flush();
    const Status compared = compare_with_peers(context, options, *model, threads);
    if (!compared) return std::unexpected(compared.error());
  }
  return ExitCode::Done;
}

}  // namespace

Action declare_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->model.what,
                 "a compiled model, such as resnet50.so, or a model file, such as resnet50.onnx")
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
    const Status flags = check_flags(context, *options, app);
    if (!flags) return std::unexpected(flags.error());
    return run_bench(context, *options);
  };
}

}  // namespace tilewright::cli
