// `tilewright lower WHAT --trace FILE`: the IR after each pass that changed it, with the time of
// each pass; then, on request, C source, LLVM IR and assembly.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/lower_operator.h"
#include "base/json.h"
#include "cli/target_flags.h"
#include "cli/verb.h"

namespace tilewright::cli {
namespace {

struct Flags {
  app::LowerOptions options;
  bool tree = false;
  bool last = false;
};

void print_passes(const Context& context, const app::Lowered& lowered, bool last) {
  for (const lower::PassReport& report : lowered.passes) {
    Json object = {
        {"pass", report.pass}, {"milliseconds", report.milliseconds}, {"changed", report.changed}};
    std::string text = fmt::format("== {}: {:.3f} ms{}\n", report.pass, report.milliseconds,
                                   report.changed ? "" : ", no change");
    if (!last) {
      text += report.text;
      object["ir"] = report.text;
    }
    print(context, text, object);
  }
  if (last) print(context, lowered.ir, {{"ir", lowered.ir}});
}

Result<ExitCode> run_lower(const Context& context, const Flags& flags) {
  const app::LowerOptions& options = flags.options;
  const app::Lowered lowered = TRY(app::lower_operator(options));
  if (flags.tree) print(context, lowered.tree, {{"tree", lowered.tree}});
  print_passes(context, lowered, flags.last);
  if (options.source && !lowered.c.source.empty()) {
    print(context, lowered.c.header + lowered.c.source,
          {{"header", lowered.c.header}, {"source", lowered.c.source}});
  }
  if (!lowered.status) return std::unexpected(lowered.status.error());
  for (const codegen::PhaseTime& phase : lowered.phases) {
    print(context, fmt::format("== llvm {}: {:.3f} ms\n", phase.phase, phase.milliseconds),
          {{"phase", phase.phase}, {"milliseconds", phase.milliseconds}});
  }
  if (options.llvm) print(context, lowered.llvm, {{"llvm", lowered.llvm}});
  if (options.assembly) print(context, lowered.assembly, {{"assembly", lowered.assembly}});
  return ExitCode::Done;
}

}  // namespace

Action declare_lower(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("what", flags->options.what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite")
      ->required();
  app.add_option("--trace", flags->options.trace_file,
                 "file with the schedule, as text or JSON (default: the empty schedule)");
  declare_target_flags(app, "1", &flags->options.target);
  app.add_option("--disable-pass", flags->options.disabled, "turn off a pass; may be repeated");
  app.add_flag("--tree", flags->tree, "print the LoopTree first");
  app.add_flag("--last", flags->last, "print the IR after the last pass only");
  app.add_flag("--source", flags->options.source, "print the C header and source too");
  app.add_flag("--llvm", flags->options.llvm, "print the LLVM IR too");
  app.add_flag("--assembly", flags->options.assembly, "print the assembly too");
  return [flags](const Context& context) { return run_lower(context, *flags); };
}

}  // namespace tilewright::cli
