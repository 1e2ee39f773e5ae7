// `tilewright records import`: lines of JSON into the store; with --ansor, the schedules of a log
// of Ansor's, which become traces to be measured.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>

#include "ansor_log/import.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/records_common.h"
#include "cli/records_report.h"
#include "cli/records_verbs.h"
#include "cli/target_choice.h"
#include "record/ndjson.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string records;
  std::vector<std::string> files;
  std::string ansor;   // what the logs are of; empty: files of lines
  std::string traces;  // with ansor: where the traces go
  TargetChoice target;
};

// Before the store is made: a name with a slip in it leaves nothing behind.
Status check_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file != "-" && ::access(file.c_str(), R_OK) != 0) {
      return fail(ErrorKind::Io,
                  fmt::format("{}: there is no such file, or it cannot be read", file));
    }
    if (std::filesystem::is_directory(file)) {
      return fail(ErrorKind::Io, fmt::format("{}: a directory, not a file of lines", file));
    }
  }
  return {};
}

void print_ansor(const Context& context, std::string_view source,
                 const ansor_log::ImportReport& report) {
  std::string text = fmt::format(
      "{}: {} records: {} traces ({} records gave one that was there), {} failed when Ansor "
      "measured them, {} could not be converted\n",
      source, report.records, report.converted, report.again, report.failed, report.refused);
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

int all_threads() { return static_cast<int>(detect_machine().cpus.size()); }

Result<ExitCode> run_import_ansor(const Context& context, const Options& options) {
  Result<Workload> workload = parse_workload(options.ansor);
  if (!workload) return std::unexpected(workload.error());
  const Result<Target> target = target_of(options.target, all_threads());
  if (!target) return std::unexpected(target.error());
  const Task task{.workload = std::move(*workload), .target = *target};
  Result<record::Store> store = record::Store::open(options.records);
  if (!store) return std::unexpected(store.error());
  for (const std::string& file : options.files) {
    const Result<ansor_log::ImportReport> report =
        ansor_log::import_log(*store, task, file == "-" ? "/dev/stdin" : file);
    if (!report) return std::unexpected(report.error());
    print_ansor(context, file, *report);
  }
  const auto traces = ansor_log::imported_traces(*store, task.key());
  if (!traces) return std::unexpected(traces.error());
  if (traces->empty()) return ExitCode::BadUse;
  if (options.traces.empty()) return ExitCode::Done;
  if (Status status = write_file_atomically(options.traces, ansor_log::print_traces(*traces));
      !status) {
    return std::unexpected(status.error());
  }
  context.err << fmt::format("{} traces in {}; `tilewright measure {} --traces {}` measures them\n",
                             traces->size(), options.traces, options.ansor, options.traces);
  return ExitCode::Done;
}

Result<ExitCode> run_import(const Context& context, const Options& options) {
  if (Status status = check_files(options.files); !status) return std::unexpected(status.error());
  if (!options.ansor.empty()) return run_import_ansor(context, options);
  if (!options.traces.empty()) {
    return fail(ErrorKind::BadInput, "--output is for the traces of --ansor");
  }
  Result<record::Store> store = record::Store::open(options.records);
  if (!store) return std::unexpected(store.error());
  bool any = false;  // a file of which nothing could be read is the wrong file
  for (const std::string& file : options.files) {
    const Result<record::ImportReport> report =
        record::import_ndjson(*store, file == "-" ? "/dev/stdin" : file);
    if (!report) return std::unexpected(report.error());
    print_import(context, file, *report);
    any = any || report->lines == 0 || report->malformed < report->lines;
  }
  return any ? ExitCode::Done : ExitCode::BadUse;
}

}  // namespace

Action declare_records_import(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("files", options->files,
                 "files of lines, as export writes them; - is standard input")
      ->required();
  app.add_option("--ansor", options->ansor,
                 "the files are logs of Ansor, of this operator or name of the suite");
  app.add_option("-o,--output", options->traces,
                 "with --ansor: a file for all traces of that task, for `measure --traces`");
  declare_target_flags(app, "one for each cpu", &options->target);
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_import(context, *options); };
}

}  // namespace tilewright::cli
