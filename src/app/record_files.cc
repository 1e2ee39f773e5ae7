#include "app/record_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/hash.h"
#include "record/salvage.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

namespace fs = std::filesystem;

Result<record::Store> open_reader(const std::string& path) {
  return open_store(path, record::OpenAs::Reader);
}

// Opens, or creates, the store when it is first needed: an import without a readable line leaves no
// file behind.
class StoreOnDemand {
 public:
  explicit StoreOnDemand(std::string path) : path_(std::move(path)) {}

  Result<record::Store*> open() {
    if (!store_) store_ = TRY(open_store(path_, record::OpenAs::Create));
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

// Passes on each line once.
class LineFilter {
 public:
  explicit LineFilter(record::TextSink write) : write_(std::move(write)) {}

  bool operator()(std::string_view text) {
    std::string fresh;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n') + 1);
      text.remove_prefix(line.size());
      if (known_.insert(Hasher().add_text(line).finish()).second) fresh += line;
    }
    return write_(fresh);
  }
  int64_t lines() const { return std::ssize(known_); }

 private:
  record::TextSink write_;
  std::unordered_set<Hash128> known_;
};

// `begin` is called when the store is open, before the first line. After an error of a damaged
// store, the lines that are not written yet are read from what can be saved of it.
Result<ExportOutcome> export_readable(const std::string& records, const record::TextSink& write,
                                      const StopToken& stop, const std::function<Status()>& begin) {
  TRY(check_store_path(records));
  LineFilter filter(write);
  ExportOutcome outcome;
  Result<record::Store> store = open_reader(records);
  if (store) TRY(begin());
  Status whole = store ? record::export_ndjson(*store, std::ref(filter))
                       : Status(std::unexpected(store.error()));
  if (!whole && whole.error().kind == ErrorKind::BadInput && !stop.requested()) {
    Result<record::Salvaged> saved = record::salvage(records, whole.error(), stop);
    if (saved) {
      TRY(begin());
      outcome.damage = saved->damage;
      whole = record::export_ndjson(saved->store, std::ref(filter));
    } else if (!stop.requested()) {
      return std::unexpected(saved.error());
    }
  }
  outcome.stopped = stop.requested();
  if (!outcome.stopped) TRY(whole);
  outcome.lines = filter.lines();
  return outcome;
}

}  // namespace

Result<ImportOutcome> import_records(const ImportOptions& options, ImportListener& listener,
                                     const StopToken& stop) {
  TRY(check_store_path(options.records));
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
  std::optional<AtomicFile> out;
  const auto write = [&](std::string_view text) {
    out->append(text);
    return !out->failed() && !stop.requested();
  };
  ExportOutcome outcome = TRY(export_readable(records, write, stop, [&]() -> Status {
    if (!out) out = TRY(AtomicFile::create(file));
    return {};
  }));
  if (outcome.stopped) return outcome;
  TRY(out->finish());
  outcome.bytes = out->size();
  return outcome;
}

Result<ExportOutcome> export_records(const std::string& records, std::ostream& out,
                                     const StopToken& stop) {
  const auto write = [&](std::string_view text) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    return out.good() && !stop.requested();
  };
  ExportOutcome outcome = TRY(export_readable(records, write, stop, [] { return Status(); }));
  if (!out.flush()) {
    return fail(ErrorKind::Io, "the lines cannot be written: is the disk full?");
  }
  return outcome;
}

Result<MergeOutcome> merge_records(const std::string& records,
                                   const std::vector<std::string>& others, ImportListener& listener,
                                   const StopToken& stop) {
  // All files are opened before anything is written.
  std::vector<record::Store> opened;
  opened.reserve(others.size());
  for (const std::string& path : others) opened.push_back(TRY(open_reader(path)));
  record::Store store = TRY(open_store(records, record::OpenAs::Create));
  for (size_t k = 0; k < others.size() && !stop.requested(); ++k) {
    listener.on_lines(others[k], TRY(record::merge(store, opened[k], stop)));
  }
  return MergeOutcome{.stopped = stop.requested()};
}

Result<record::CheckReport> check_records(const std::string& records, int64_t programs,
                                          const StopToken& stop) {
  TRY(check_store_path(records));
  Result<record::Store> store = open_reader(records);
  if (store) return record::check(*store, programs, stop);
  if (store.error().kind != ErrorKind::BadInput) return std::unexpected(store.error());
  Result<record::Salvaged> saved = record::salvage(records, store.error(), stop);
  record::CheckReport report;
  report.stopped = !saved && stop.requested();
  if (report.stopped) return report;
  record::Salvaged salvaged = TRY(std::move(saved));
  report = TRY(record::check(salvaged.store, programs, stop));
  if (report.stopped) return report;
  report.problems.insert(report.problems.begin(), "file: " + salvaged.damage);
  if (salvaged.lost > 0) {
    report.problems.push_back(
        fmt::format("{} more rows are incomplete or refer to lost rows", salvaged.lost));
  }
  return report;
}

}  // namespace tilewright::app
