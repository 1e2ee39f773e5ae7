// `tilewright bench model.so`: app::bench with flags and tables. docs/models.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>
#include <system_error>

#include "app/bench.h"
#include "base/counted.h"
#include "base/json.h"
#include "base/program_folder.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/records_common.h"
#include "cli/target_flags.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Flags {
  app::BenchOptions options;
  std::string onnx;  // for a .so: the model for the peers
};

std::string text_of(const app::BenchedModel& model) {
  const std::vector<double>& runs_ns = model.timing.runs_ns;
  std::string text = fmt::format("{:>10}  {:>6}  {:>5}  {}\n", "time", "share", "calls", "task");
  for (const app::StepGroup& task : model.tasks) {
    text += fmt::format("{:>10}  {:>5.1f} %  {:>5}  {}\n", duration_text(task.ns),
                        100 * model.share_of(task), task.count, task.title);
  }
  text += fmt::format("{:>10}  tasks together, {:.1f} % of a run\n", duration_text(model.tasks_ns),
                      100 * model.timing.share);
  text += fmt::format("{}: {} on {}: min {}", model.name, counted(runs_ns.size(), "run"),
                      counted(model.threads, "thread"), duration_text(runs_ns.front()));
  for (const app::RunQuantile& one : model.quantiles) {
    text += fmt::format(", {:g} % {}", 100 * one.share, duration_text(one.ns));
  }
  return text + "\n";
}

Json json_of(const app::BenchedModel& model) {
  const measure::ModelTiming& timing = model.timing;
  Json tasks = Json::array();
  for (const app::StepGroup& task : model.tasks) {
    tasks.push_back({{"title", task.title}, {"calls", task.count}, {"ns", task.ns}});
  }
  Json slow = Json::array();
  for (const app::SlowKernel& one : model.slow) {
    slow.push_back({{"title", one.title},
                    {"slow_calls", one.slow_calls},
                    {"calls", one.calls},
                    {"ns", one.ns},
                    {"tuned_ns", one.tuned_ns}});
  }
  Json json = {{"model", model.name},
               {"threads", model.threads},
               {"runs", timing.runs_ns.size()},
               {"least_ns", timing.runs_ns.front()},
               {"tasks", std::move(tasks)},
               {"tasks_ns", model.tasks_ns},
               {"tasks_share", timing.share},
               {"load_s", model.load_s},
               {"memory_bytes", model.memory_bytes},
               {"untuned", model.untuned},
               {"slow", std::move(slow)},
               {"steps_low_ns", timing.low_ns}};
  for (const app::RunQuantile& one : model.quantiles) {
    json[fmt::format("p{:g}_ns", 100 * one.share)] = one.ns;
  }
  return json;
}

class BenchPrinter : public app::BenchListener {
 public:
  explicit BenchPrinter(const Context& context) : context_(context) {}

  void on_loaded(const std::string& what, size_t untuned) override {
    if (untuned == 0) return;
    context_.err << fmt::format(
        "tilewright: {} not tuned, with their default schedule (`tilewright tasks {}` lists "
        "them)\n",
        counted(untuned, "task"), what);
  }
  void on_timed(const app::BenchedModel& model) override {
    for (const app::SlowKernel& one : model.slow) {
      context_.err << fmt::format(
          "tilewright: {} takes {}, {:.1f} x its tuned time of {} ({} of {}); tune and "
          "compile it on this machine, or look at its inputs\n",
          one.title, duration_text(one.ns), one.slowdown(), duration_text(one.tuned_ns),
          one.slow_calls, counted(one.calls, "call"));
    }
    print(context_, text_of(model), json_of(model));
    context_.out.flush();
  }

 private:
  const Context& context_;
};

// The folder bench of the source tree that this program was built in.
Result<std::filesystem::path> find_harness() {
  std::filesystem::path folder = TRY(program_folder());
  std::error_code error;
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "bench" / "models.py", error)) return folder / "bench";
  }
  return fail(ErrorKind::BadInput,
              "--peers needs the source tree: no folder above this program has bench/models.py");
}

Result<ExitCode> run_bench(const Context& context, const app::BenchOptions& options) {
  const Interrupt interrupt;
  BenchPrinter printer(context);
  const app::BenchOutcome outcome = TRY(app::bench(options, printer, interrupt.token()));
  if (interrupt.requested()) return interrupted(context, "the benchmark is not complete");
  context.out << outcome.peers;
  return ExitCode::Done;
}

}  // namespace

Action declare_bench(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app::BenchOptions* const options = &flags->options;
  app.add_option("MODEL", options->what,
                 "a compiled model, such as resnet50.so, or a model file, such as resnet50.onnx; "
                 "several compiled ones run in alternation")
      ->required();
  app.add_option("--seconds", options->seconds, "run for N seconds (default: 3)")
      ->check(number_between(0.01, 1e6));
  app.add_option("--input", options->inputs,
                 "NAME=FILE.npy, or FILE.npy if there is one input; may be repeated");
  app.add_option("--random", options->random_seed,
                 "seed of the inputs that are not given (default: 1)")
      ->check(natural_number());
  app.add_option("--peers", options->peers.peers,
                 "compare with other libraries: onnxruntime, openvino or onnxruntime,openvino");
  app.add_option("--rounds", options->peers.rounds, "number of rounds with the peers (default: 20)")
      ->check(whole_number_between(1, 100'000));
  app.add_option("--onnx", flags->onnx,
                 "for --peers with a .so: the model file it was compiled from");
  app.add_option(
      "--python", options->peers.python,
      "for --peers: a Python that has them installed (default: .venv of the source tree)");
  declare_model_flags(app, &options->model);
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one per CPU", &options->target);
  return [flags, &app](const Context& context) -> Result<ExitCode> {
    app::BenchOptions options = flags->options;
    options.model.what = options.what.front();
    const bool with_peers = !options.peers.peers.empty();
    TRY(check_model_flags(app, options.model, options.records, with_peers));
    if (!with_peers) {
      TRY(refuse_flags(app, {"--onnx", "--python", "--rounds"}, "needs --peers"));
    }
    options.peers.model = flags->onnx;
    if (with_peers) options.peers.harness = TRY(find_harness());
    options.peers.json = context.json;
    return run_bench(context, options);
  };
}

}  // namespace tilewright::cli
