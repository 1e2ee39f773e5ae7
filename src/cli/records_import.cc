// `tilewright records import`: reads lines of JSON into the store; with --ansor, converts schedules
// of Ansor's logs to traces.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "app/record_files.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/interrupt.h"
#include "cli/records_common.h"
#include "cli/records_report.h"
#include "cli/records_verbs.h"
#include "cli/target_flags.h"

namespace tilewright::cli {
namespace {

void print_ansor(const Context& context, std::string_view source,
                 const ansor_log::ImportReport& report) {
  std::string text = fmt::format(
      "{}: {}: {} ({} gave a known trace), {} failed when Ansor "
      "measured them, {} could not be converted\n",
      source, counted(report.records, "record"), counted(report.converted, "trace"),
      counted(report.again, "record"), report.failed, report.refused);
  Json named = name_lines(report.named, &text);
  print(context, text,
        {{"source", source},
         {"records", report.records},
         {"converted", report.converted},
         {"again", report.again},
         {"failed", report.failed},
         {"refused", report.refused},
         {"named", std::move(named)}});
}

constexpr const char* kStandardInput = "/dev/stdin";

class ImportPrinter : public app::ImportListener {
 public:
  explicit ImportPrinter(const Context& context) : context_(context) {}

  void on_lines(const std::string& source, const record::ImportReport& report) override {
    print_import(context_, as_given(source), report);
  }
  void on_log(const std::string& source, const ansor_log::ImportReport& report) override {
    print_ansor(context_, as_given(source), report);
  }

 private:
  static std::string as_given(const std::string& source) {
    return source == kStandardInput ? "-" : source;
  }
  const Context& context_;
};

Result<ExitCode> run_import(const Context& context, app::ImportOptions options) {
  if (options.ansor.empty() && !options.traces.empty()) {
    return fail(ErrorKind::BadInput, "--output is for the traces of --ansor");
  }
  std::ranges::replace(options.files, "-", kStandardInput);
  ImportPrinter printer(context);
  const Interrupt interrupt;
  const app::ImportOutcome outcome = TRY(app::import_records(options, printer, interrupt.token()));
  if (outcome.stopped) {
    return interrupted(context, fmt::format("{} keeps the lines that were read", options.records));
  }
  if (outcome.traces > 0 && !options.traces.empty()) {
    context.err << fmt::format("{} in {}; `tilewright measure {} --traces {}` measures them\n",
                               counted(outcome.traces, "trace"), options.traces, options.ansor,
                               options.traces);
  }
  return outcome.any ? ExitCode::Done : ExitCode::BadUse;
}

}  // namespace

Action declare_records_import(CLI::App& app) {
  auto options = std::make_shared<app::ImportOptions>();
  app.add_option("FILES", options->files,
                 "files of lines, as export writes them; - is standard input")
      ->required();
  app.add_option("--ansor", options->ansor,
                 "read the files as logs of Ansor for this operator or name of the suite");
  app.add_option(
      "-o,--output", options->traces,
      "with --ansor: write all traces of that task to this file, for `measure --traces`");
  declare_target_flags(app, "one per CPU", &options->target);
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_import(context, *options); };
}

}  // namespace tilewright::cli
