// `tilewright compile WHAT -o out.so`: the best schedules of the records as a library, an object or
// C source. What has no record is compiled with its default schedule, and said. docs/deployment.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "base/clock.h"
#include "base/json.h"
#include "cli/model_choice.h"
#include "cli/progress_printer.h"
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
  std::string output;
  std::string name;
  std::string weights = "embedded";
  bool require_tuned = false;
};

struct Untuned {
  Hash128 key;
  std::string title;
  std::string note;
};

using Export = Status (*)(const deploy::Program&, const std::filesystem::path&,
                          const deploy::ExportOptions&);

// By the ending of the file.
Result<Export> export_of(const std::filesystem::path& output) {
  if (output.extension() == ".so") return deploy::export_shared;
  if (output.extension() == ".o") return deploy::export_object;
  if (output.extension() == ".c") return deploy::export_c;
  return fail(ErrorKind::BadInput,
              fmt::format("-o {}: the name ends in .so (a library), .o (an object) or .c (source)",
                          output.string()));
}

std::vector<Untuned> untuned_of(const deploy::ModelPlan& plan,
                                const std::vector<deploy::Choice>& choices, const Target& target) {
  std::vector<Untuned> untuned;
  for (size_t k = 0; k < choices.size(); ++k) {
    if (choices[k].record) continue;
    const graph::Group& group = plan.partition.groups[plan.partition.kernels[k].groups.front()];
    untuned.push_back({.key = Task{.workload = group.workload, .target = target}.key(),
                       .title = group.title,
                       .note = choices[k].note});
  }
  return untuned;
}

std::string untuned_text(const std::vector<Untuned>& untuned) {
  std::string text;
  for (const Untuned& one : untuned) {
    text += fmt::format("  {}  {}{}\n", short_id(one.key), one.title,
                        one.note.empty() ? "" : "; " + one.note);
  }
  return text;
}

void print_summary(const Context& context, const Options& options, const deploy::ModelPlan& plan,
                   const deploy::Program& program, const std::vector<Untuned>& untuned,
                   double seconds) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(options.output, error);
  const double mib = 1024.0 * 1024.0;
  const auto to_mib = [&](int64_t size) { return static_cast<double>(size) / mib; };
  std::string text = fmt::format(
      "{}: {} kernels ({} tuned) in {} steps, {:.1f} MiB of constants, {:.2f} MiB of memory "
      "({:.2f} "
      "MiB if no value shared another's), file of {:.1f} MiB, {:.1f} s\n",
      options.output, program.kernels.size(), program.kernels.size() - untuned.size(),
      program.steps.size(), to_mib(program.constants.size()), to_mib(program.arena_bytes),
      to_mib(plan.memory.sum_bytes), static_cast<double>(bytes) / mib, seconds);
  if (!untuned.empty()) {
    context.err << fmt::format(
        "tilewright: {} of {} tasks are not tuned and have their default schedule (`tilewright "
        "tune {}` tunes them):\n{}",
        untuned.size(), program.kernels.size(), words_of(options.model), untuned_text(untuned));
  }
  Json left = Json::array();
  for (const Untuned& one : untuned) {
    left.push_back({{"task", one.key.hex()}, {"title", one.title}, {"note", one.note}});
  }
  print(context, text,
        {{"file", options.output},
         {"kernels", program.kernels.size()},
         {"steps", program.steps.size()},
         {"untuned", std::move(left)},
         {"constant_bytes", program.constants.size()},
         {"arena_bytes", program.arena_bytes},
         {"sum_bytes", plan.memory.sum_bytes},
         {"file_bytes", bytes},
         {"seconds", seconds}});
}

Result<ExitCode> run_compile(const Context& context, const Options& options) {
  const double begin_s = seconds_now();
  const Result<Export> write = export_of(options.output);
  if (!write) return std::unexpected(write.error());
  const Result<Target> target = compiled_target_of(options.target);
  if (!target) return std::unexpected(target.error());
  const std::filesystem::path output = options.output;
  const Status writable = deploy::check_writable(output);  // before anything long is done
  if (!writable) return std::unexpected(writable.error());
  const Result<ChosenModel> chosen = choose_model(options.model, *target, options.records);
  if (!chosen) return std::unexpected(chosen.error());
  const auto& [plan, choices] = *chosen;
  const std::vector<Untuned> untuned = untuned_of(plan, choices, *target);
  if (options.require_tuned && !untuned.empty()) {
    context.err << fmt::format("tilewright: {} of {} tasks have no record in {}:\n{}",
                               untuned.size(), choices.size(), options.records,
                               untuned_text(untuned));
    return ExitCode::NotTuned;
  }
  deploy::CompileOptions compile;
  compile.name = options.name.empty() ? output.stem().string() : options.name;
  compile.c_source = output.extension() == ".c";
  ProgressPrinter progress(context.err, reaches_terminal(context.err));
  compile.progress = [&](size_t done, size_t all) {
    const double now_s = seconds_now() - begin_s;
    if (progress.is_due(now_s)) progress.print(fmt::format("{}/{} kernels", done, all), now_s);
  };
  const Result<deploy::Program> program = deploy::compile_model(plan, choices, *target, compile);
  progress.finish();
  if (!program) return std::unexpected(program.error());
  const Status written =
      (*write)(*program, output, {.weights_beside = options.weights == "beside"});
  if (!written) return std::unexpected(written.error());
  print_summary(context, options, plan, *program, untuned, seconds_now() - begin_s);
  return ExitCode::Done;
}

}  // namespace

Action declare_compile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->model.what,
                 "a model, such as resnet50.onnx, or an operator, such as matmul:m=512,n=512,k=512")
      ->required();
  app.add_option("-o,--output", options->output, "a library .so, an object .o or C source .c")
      ->required();
  declare_model_flags(app, &options->model);
  app.add_option("--constant", options->model.constants,
                 "of an operator: a constant's values, NAME=FILE.npy; may be repeated");
  declare_read_records_flag(app, &options->records);
  declare_target_flags(app, "one for each cpu", &options->target);
  app.add_option("--name", options->name, "of the model's symbol (default: the file's name)");
  app.add_option("--weights", options->weights,
                 "embedded in the file, or beside it in a file of its own (default: embedded)")
      ->check(CLI::IsMember({"embedded", "beside"}));
  app.add_flag("--require-tuned", options->require_tuned,
               "fail with exit code 4 and name each task that has no record");
  return [options, &app](const Context& context) -> Result<ExitCode> {
    const Status named = check_named_records(app, options->records);
    if (!named) return std::unexpected(named.error());
    return run_compile(context, *options);
  };
}

}  // namespace tilewright::cli
