// `tilewright records export`, `merge` and `check`: operations on whole stores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/record_files.h"
#include "base/counted.h"
#include "base/json.h"
#include "cli/flag_checks.h"
#include "cli/interrupt.h"
#include "cli/records_common.h"
#include "cli/records_report.h"
#include "cli/records_verbs.h"

namespace tilewright::cli {
namespace {

struct ExportOptions {
  std::string records;
  std::string file;  // empty or `-`: standard output
};

ExitCode report_damage(const Context& context, const ExportOptions& options,
                       const app::ExportOutcome& outcome) {
  context.err << fmt::format(
      "tilewright: {} is damaged: {}; the {} line{} that can be read are written, the others are "
      "lost; `tilewright records import FILE --records NEW` makes a new store of them\n",
      options.records, outcome.damage, outcome.lines, outcome.lines == 1 ? "" : "s");
  return ExitCode::BadUse;
}

Result<ExitCode> run_export(const Context& context, const ExportOptions& options) {
  const Interrupt interrupt;
  const StopToken stop = interrupt.token();
  if (options.file.empty() || options.file == "-") {
    const app::ExportOutcome outcome = TRY(app::export_records(options.records, context.out, stop));
    if (outcome.stopped) return interrupted(context, "the lines are not complete");
    return outcome.damage.empty() ? ExitCode::Done : report_damage(context, options, outcome);
  }
  const app::ExportOutcome outcome =
      TRY(app::export_records(options.records, std::filesystem::path(options.file), stop));
  if (outcome.stopped) {
    return interrupted(context, fmt::format("{} is not written", options.file));
  }
  print(context, fmt::format("{}: {} bytes\n", options.file, outcome.bytes),
        {{"file", options.file}, {"bytes", outcome.bytes}, {"lines", outcome.lines}});
  return outcome.damage.empty() ? ExitCode::Done : report_damage(context, options, outcome);
}

struct MergeOptions {
  std::string records;
  std::vector<std::string> others;
};

Result<ExitCode> run_merge(const Context& context, const MergeOptions& options) {
  struct Printer : app::ImportListener {
    explicit Printer(const Context& to) : context(to) {}
    void on_lines(const std::string& source, const record::ImportReport& report) override {
      print_import(context, source, report);
    }
    const Context& context;
  } printer(context);
  const Interrupt interrupt;
  const app::MergeOutcome outcome =
      TRY(app::merge_records(options.records, options.others, printer, interrupt.token()));
  if (!outcome.stopped) return ExitCode::Done;
  return interrupted(context, fmt::format("{} keeps the records that were added", options.records));
}

struct CheckOptions {
  std::string records;
  int64_t programs = 200;
};

Result<ExitCode> run_check(const Context& context, const CheckOptions& options) {
  const Interrupt interrupt;
  const record::CheckReport report =
      TRY(app::check_records(options.records, options.programs, interrupt.token()));
  if (report.stopped) return interrupted(context, "the check is not complete");
  std::string text;
  for (const std::string& problem : report.problems) text += fmt::format("problem: {}\n", problem);
  for (const std::string& remark : report.remarks) text += fmt::format("remark: {}\n", remark);
  text += fmt::format("{}: {}, {} ({} rebuilt), {}, {}\n", report.clean() ? "intact" : "damaged",
                      counted(report.tasks, "task"), counted(report.candidates, "candidate"),
                      counted(report.programs, "program"), counted(report.attempts, "attempt"),
                      counted(report.foreign_lines, "foreign line"));
  if (!report.clean()) {
    text += "`tilewright records export FILE` writes the records that can be read\n";
  }
  print(context, text,
        {{"clean", report.clean()},
         {"tasks", report.tasks},
         {"candidates", report.candidates},
         {"programs", report.programs},
         {"attempts", report.attempts},
         {"foreign_lines", report.foreign_lines},
         {"problems", report.problems},
         {"remarks", report.remarks}});
  return report.clean() ? ExitCode::Done : ExitCode::BadUse;
}

}  // namespace

Action declare_records_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  app.add_option("FILE", options->file, "the file to write (default: standard output)");
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_export(context, *options); };
}

Action declare_records_merge(CLI::App& app) {
  auto options = std::make_shared<MergeOptions>();
  app.add_option("OTHERS", options->others, "stores to add; they are not changed")->required();
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_merge(context, *options); };
}

Action declare_records_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("--programs", options->programs,
                 "rebuild the programs of N candidates and compare their hashes (default: 200)")
      ->check(whole_number_between(0, int64_t{1} << 40));
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_check(context, *options); };
}

}  // namespace tilewright::cli
