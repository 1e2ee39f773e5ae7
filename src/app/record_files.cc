#include "app/record_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "base/atomic_file.h"
#include "base/file.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

namespace fs = std::filesystem;

Result<record::Store> open_reader(const std::string& path) {
  return record::Store::open(path, record::OpenAs::Reader);
}

// Opens, or creates, the store when it is first needed: an import without a readable line leaves no
// file behind.
class StoreOnDemand {
 public:
  explicit StoreOnDemand(std::string path) : path_(std::move(path)) {}

  Result<record::Store*> open() {
    if (!store_) store_ = TRY(record::Store::open(path_));
    return &*store_;
  }
  bool exists() const { return store_.has_value() || fs::exists(path_); }
  record::OpenStore opener() {
    return [this] { return open(); };
  }

 private:
  std::string path_;
  std::optional<record::Store> store_;
};

Status check_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (::access(file.c_str(), R_OK) != 0) {
      return fail(ErrorKind::Io,
                  fmt::format("{}: there is no such file, or it cannot be read", file));
    }
    if (std::filesystem::is_directory(file)) {
      return fail(ErrorKind::Io, fmt::format("{}: a directory, not a file of lines", file));
    }
  }
  return {};
}

Result<ImportOutcome> import_logs(const ImportOptions& options, ImportListener& listener,
                                  const StopToken& stop) {
  Workload workload = TRY(parse_workload(options.ansor));
  const Target target =
      TRY(target_of(options.target, static_cast<int>(detect_machine().cpus.size())));
  const Task task{.workload = std::move(workload), .target = target};
  StoreOnDemand store(options.records);
  for (const std::string& file : options.files) {
    if (stop.requested()) return ImportOutcome{.stopped = true};
    listener.on_log(file, TRY(ansor_log::import_log(store.opener(), task, file)));
  }
  if (!store.exists()) return ImportOutcome{};
  const auto traces = TRY(ansor_log::imported_traces(*TRY(store.open()), task.key()));
  if (!traces.empty() && !options.traces.empty()) {
    TRY(write_file_atomically(options.traces, ansor_log::print_traces(traces)));
  }
  return ImportOutcome{.any = !traces.empty(), .traces = traces.size()};
}

}  // namespace

Result<ImportOutcome> import_records(const ImportOptions& options, ImportListener& listener,
                                     const StopToken& stop) {
  TRY(check_files(options.files));
  if (!options.ansor.empty()) return import_logs(options, listener, stop);
  if (!options.traces.empty()) {
    return fail(ErrorKind::BadInput, "a file for traces goes with logs of Ansor");
  }
  StoreOnDemand store(options.records);
  ImportOutcome outcome;
  for (const std::string& file : options.files) {
    if (stop.requested()) break;
    const record::ImportReport report = TRY(record::import_ndjson(store.opener(), file, stop));
    listener.on_lines(file, report);
    // A file without any readable line is the wrong file.
    outcome.any = outcome.any || report.lines == 0 || report.malformed < report.lines;
  }
  outcome.stopped = stop.requested();
  // An empty file gives an empty store.
  if (outcome.any && !outcome.stopped) TRY(store.open());
  return outcome;
}

Result<ExportOutcome> export_records(const std::string& records, const fs::path& file,
                                     const StopToken& stop) {
  record::Store store = TRY(open_reader(records));
  AtomicFile out = TRY(AtomicFile::create(file));
  TRY(record::export_ndjson(store, [&](std::string_view text) {
    out.append(text);
    return !out.failed() && !stop.requested();
  }));
  if (stop.requested()) return ExportOutcome{.stopped = true};
  TRY(out.finish());
  return ExportOutcome{.bytes = out.size()};
}

Result<ExportOutcome> export_records(const std::string& records, std::ostream& out,
                                     const StopToken& stop) {
  record::Store store = TRY(open_reader(records));
  TRY(record::export_ndjson(store, out, stop));
  return ExportOutcome{.stopped = stop.requested()};
}

Result<MergeOutcome> merge_records(const std::string& records,
                                   const std::vector<std::string>& others, ImportListener& listener,
                                   const StopToken& stop) {
  // All files are opened before anything is written.
  std::vector<record::Store> opened;
  opened.reserve(others.size());
  for (const std::string& path : others) opened.push_back(TRY(open_reader(path)));
  record::Store store = TRY(record::Store::open(records));
  for (size_t k = 0; k < others.size() && !stop.requested(); ++k) {
    listener.on_lines(others[k], TRY(record::merge(store, opened[k], stop)));
  }
  return MergeOutcome{.stopped = stop.requested()};
}

Result<record::CheckReport> check_records(const std::string& records, int64_t programs,
                                          const StopToken& stop) {
  record::Store store = TRY(open_reader(records));
  return record::check(store, programs, stop);
}

}  // namespace tilewright::app
