// `tilewright lower OPERATOR --trace FILE`: the IR after each pass that changed it, with the time
// of each pass; then, on request, the text forms of the code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
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
  bool source = false, llvm = false, assembly = false;  // short for names of texts
};

// The text forms to print, each once.
std::vector<std::string> texts_of(const Flags& flags) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (flags.source) {
    add("header");
    add("source");
  }
  if (flags.llvm) add("llvm");
  if (flags.assembly) add("assembly");
  for (const std::string& name : flags.options.texts) add(name);
  return names;
}

// Texts of one back end that follow each other are one JSON object.
void print_texts(const Context& context, const std::vector<app::LoweredText>& texts) {
  for (size_t begin = 0; begin < texts.size();) {
    Json object = Json::object();
    std::string text;
    size_t end = begin;
    for (; end < texts.size() && texts[end].back_end == texts[begin].back_end; ++end) {
      for (const codegen::PhaseTime& phase : texts[end].phases) {
        print(context,
              fmt::format("== {} {}: {:.3f} ms\n", texts[end].back_end, phase.phase,
                          phase.milliseconds),
              {{"phase", phase.phase}, {"milliseconds", phase.milliseconds}});
      }
      text += texts[end].text;
      object[texts[end].name] = texts[end].text;
    }
    print(context, text, object);
    begin = end;
  }
}

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
  app::LowerOptions options = flags.options;
  options.texts = texts_of(flags);
  const app::Lowered lowered = TRY(app::lower_operator(options));
  if (flags.tree) print(context, lowered.tree, {{"tree", lowered.tree}});
  print_passes(context, lowered, flags.last);
  print_texts(context, lowered.texts);
  TRY(lowered.status);
  return ExitCode::Done;
}

}  // namespace

Action declare_lower(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.add_option("OPERATOR", flags->options.what,
                 "an operator, such as matmul:m=512,n=512,k=512, or a name of the suite")
      ->required();
  app.add_option("--trace", flags->options.trace_file,
                 "file with the schedule, as text or JSON (default: the empty schedule)");
  declare_target_flags(app, "1", &flags->options.target);
  app.add_option("--disable-pass", flags->options.disabled, "turn off a pass; may be repeated");
  app.add_flag("--tree", flags->tree, "print the LoopTree first");
  app.add_flag("--last", flags->last, "print the IR after the last pass only");
  std::string forms;
  for (const app::TextName& form : app::text_names()) {
    forms += fmt::format("\n  {}: {}", form.name, form.purpose);
  }
  app.add_option("--texts", flags->options.texts,
                 "print forms of the code too: NAME[,NAME]" + forms)
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--source", flags->source, "short for --texts header,source");
  app.add_flag("--llvm", flags->llvm, "short for --texts llvm");
  app.add_flag("--assembly", flags->assembly, "short for --texts assembly");
  return [flags](const Context& context) { return run_lower(context, *flags); };
}

}  // namespace tilewright::cli
