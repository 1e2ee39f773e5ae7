// `tilewright records export`, `merge` and `check`: operations on whole stores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "app/record_files.h"
#include "base/json.h"
#include "cli/records_common.h"
#include "cli/records_report.h"
#include "cli/records_verbs.h"

namespace tilewright::cli {
namespace {

struct ExportOptions {
  std::string records;
  std::string file;  // empty or `-`: standard output
};

Result<ExitCode> run_export(const Context& context, const ExportOptions& options) {
  if (options.file.empty() || options.file == "-") {
    TRY(app::export_records(options.records, context.out));
    return ExitCode::Done;
  }
  const uint64_t bytes =
      TRY(app::export_records(options.records, std::filesystem::path(options.file)));
  print(context, fmt::format("{}: {} bytes\n", options.file, bytes),
        {{"file", options.file}, {"bytes", bytes}});
  return ExitCode::Done;
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
  TRY(app::merge_records(options.records, options.others, printer));
  return ExitCode::Done;
}

struct CheckOptions {
  std::string records;
  int64_t programs = 200;
};

Result<ExitCode> run_check(const Context& context, const CheckOptions& options) {
  const record::CheckReport report = TRY(app::check_records(options.records, options.programs));
  std::string text;
  for (const std::string& problem : report.problems) text += fmt::format("problem: {}\n", problem);
  for (const std::string& remark : report.remarks) text += fmt::format("remark: {}\n", remark);
  text += fmt::format(
      "{}: {} tasks, {} candidates ({} programs rebuilt), {} attempts, {} foreign lines\n",
      report.clean() ? "whole" : "damaged", report.tasks, report.candidates, report.programs,
      report.attempts, report.foreign_lines);
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

void print_import(const Context& context, std::string_view source,
                  const record::ImportReport& report) {
  std::string text =
      fmt::format("{}: {} lines: {} new attempts, {} new tasks, machines and others, {} known\n",
                  source, report.lines, report.attempts, report.others, report.known);
  const auto say = [&](int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("  {} {}\n", count, what);
  };
  say(report.arrived, "waiting attempts are complete now");
  say(report.waiting, "attempts are waiting for their task, machine or run");
  say(report.variants, "lines contradict a known key: both are kept");
  say(report.foreign, "lines are of another type or version: kept unchanged");
  say(report.malformed, "lines are malformed and were skipped:");
  Json named = name_lines(report.named, &text);
  print(context, text,
        {{"source", source},
         {"lines", report.lines},
         {"attempts", report.attempts},
         {"others", report.others},
         {"known", report.known},
         {"arrived", report.arrived},
         {"waiting", report.waiting},
         {"variants", report.variants},
         {"foreign", report.foreign},
         {"malformed", report.malformed},
         {"named", std::move(named)}});
}

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
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_check(context, *options); };
}

}  // namespace tilewright::cli
