// `tilewright records import`: lines of JSON into the store.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/records_common.h"
#include "cli/records_report.h"
#include "cli/records_verbs.h"
#include "record/ndjson.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string records;
  std::vector<std::string> files;
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

Result<ExitCode> run_import(const Context& context, const Options& options) {
  if (Status status = check_files(options.files); !status) return std::unexpected(status.error());
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
  declare_records_flag(app, &options->records);
  return [options](const Context& context) { return run_import(context, *options); };
}

}  // namespace tilewright::cli
