// `tilewright lower WHAT --trace FILE`: the IR after each pass that changed it, with the time of
// each; then, on request, the C source and what LLVM makes of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "cli/target_choice.h"
#include "cli/verb.h"
#include "codegen/c/emit_c.h"
#include "codegen/llvm/compile.h"
#include "ir/print.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string what;
  std::string trace_file;
  TargetChoice target;
  std::vector<std::string> disabled;
  bool tree = false;
  bool last = false;
  bool source = false;
  bool llvm = false;
  bool assembly = false;
};

constexpr int64_t kMaxTraceBytes = int64_t{16} << 20;

Result<schedule::Trace> read_trace(const std::string& file) {
  if (file.empty()) return schedule::Trace{};
  Result<std::string> text = read_file(file, kMaxTraceBytes);
  if (!text) return std::unexpected(text.error());
  const size_t first = text->find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (*text)[first] == '[';
  Result<schedule::Trace> trace = schedule::trace_from_text(json ? "" : *text);
  if (json) {
    Result<Json> parsed = parse_json(*text);
    if (!parsed) return fail(ErrorKind::BadInput, file + ": " + parsed.error().message);
    trace = schedule::trace_from_json(*parsed);
  }
  if (!trace) return fail(ErrorKind::BadInput, file + ": " + trace.error().message);
  return trace;
}

void print_report(const Context& context, const Options& options,
                  const std::vector<lower::PassReport>& reports, const ir::Function& function) {
  for (const lower::PassReport& report : reports) {
    Json object = {
        {"pass", report.pass}, {"milliseconds", report.milliseconds}, {"changed", report.changed}};
    std::string text = fmt::format("== {}: {:.3f} ms{}\n", report.pass, report.milliseconds,
                                   report.changed ? "" : ", no change");
    if (!options.last) {
      text += report.text;
      object["ir"] = report.text;
    }
    print(context, text, object);
  }
  if (options.last) print(context, ir::to_string(function), {{"ir", ir::to_string(function)}});
}

Result<ExitCode> run_lower(const Context& context, const Options& options) {
  Result<Workload> workload = parse_workload(options.what);
  if (!workload) return std::unexpected(workload.error());
  Result<schedule::Trace> trace = read_trace(options.trace_file);
  if (!trace) return std::unexpected(trace.error());
  Result<Target> target = target_of(options.target, 1);
  if (!target) return std::unexpected(target.error());
  Result<schedule::LoopTree> initial = schedule::initial_tree(*workload);
  if (!initial) return std::unexpected(initial.error());
  Result<schedule::LoopTree> tree = schedule::apply_or_explain(*initial, *trace);
  if (!tree) return std::unexpected(tree.error());
  if (options.tree) print(context, tree->to_string(), {{"tree", tree->to_string()}});

  std::vector<lower::PassReport> reports;
  Result<ir::Function> function =
      lower::lower(*workload, *target, *tree, *trace,
                   {.disabled = options.disabled, .report = &reports, .report_text = true});
  if (!function) return std::unexpected(function.error());
  print_report(context, options, reports, *function);
  if (options.source) {
    const Result<codegen::CSource> c = codegen::emit_c({&*function, 1}, *target);
    if (!c) return std::unexpected(c.error());
    print(context, c->header + c->source, {{"header", c->header}, {"source", c->source}});
  }
  if (!options.llvm && !options.assembly) return ExitCode::Done;

  std::string llvm;
  std::string assembly;
  std::vector<codegen::PhaseTime> phases;
  const Result<runtime::Artifact> object =
      codegen::compile_llvm(*function, *target,
                            {.llvm_ir = options.llvm ? &llvm : nullptr,
                             .assembly = options.assembly ? &assembly : nullptr,
                             .phases = &phases});
  if (!object) return std::unexpected(object.error());
  for (const codegen::PhaseTime& phase : phases) {
    print(context, fmt::format("== llvm {}: {:.3f} ms\n", phase.phase, phase.milliseconds),
          {{"phase", phase.phase}, {"milliseconds", phase.milliseconds}});
  }
  if (options.llvm) print(context, llvm, {{"llvm", llvm}});
  if (options.assembly) print(context, assembly, {{"assembly", assembly}});
  return ExitCode::Done;
}

}  // namespace

Action declare_lower(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite")
      ->required();
  app.add_option("--trace", options->trace_file,
                 "file with the schedule, as text or JSON; without it the loops as they are");
  declare_target_flags(app, "1", &options->target);
  app.add_option("--disable-pass", options->disabled, "leave a pass out; may be repeated");
  app.add_flag("--tree", options->tree, "print the LoopTree first");
  app.add_flag("--last", options->last, "print the IR after the last pass only");
  app.add_flag("--source", options->source, "print the C header and source too");
  app.add_flag("--llvm", options->llvm, "print LLVM's IR too");
  app.add_flag("--assembly", options->assembly, "print the assembly too");
  return [options](const Context& context) { return run_lower(context, *options); };
}

}  // namespace tilewright::cli
