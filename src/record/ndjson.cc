#include "record/ndjson.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "record/line_pipeline.h"
#include "record/parse_line.h"
#include "record/print_line.h"
#include "record/schema_tables.h"
#include "record/store_impl.h"

namespace tilewright::record {
namespace {

// Lines per transaction: other writers wait for one transaction, not for the whole import.
constexpr int64_t kLinesATransaction = 1'000'000;
constexpr size_t kBlock = size_t{1} << 20;  // bytes written at once

void add_malformed(int64_t number, std::string why, ImportReport* report) {
  ++report->malformed;
  if (report->named.size() < ImportReport::kMaxNamed) {
    report->named.push_back({number, std::move(why)});
  }
}

// Adds lines, one transaction after the other, and counts them in the report. A transaction that
// starts without attempts creates their indexes at its end, from all of them at once, which takes a
// fraction of the time. Pages of the file stay in memory during its lifetime.
class Importer {
 public:
  Importer(Store::Impl& impl, ImportReport* report) : impl_(impl), report_(*report) {
    impl_.database->execute("PRAGMA cache_size = -524288");
  }
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;
  ~Importer() {
    transaction_.reset();
    impl_.database->execute("PRAGMA cache_size = -256; PRAGMA shrink_memory");
  }

  // `id` is that of an attempt, if it is known.
  Status add(const Line& line, const Hash128* id = nullptr) {
    begin();
    const auto* attempt = id == nullptr ? nullptr : std::get_if<Attempt>(&line);
    count(line, attempt != nullptr ? impl_.add(*attempt, *id) : impl_.add(line));
    if (++pending_ < kLinesATransaction && !impl_.database->failed()) return {};
    return commit();
  }

  Status finish() {
    begin();
    report_.arrived = impl_.add_waiting();
    return commit();
  }

 private:
  void count(const Line& line, Added added) {
    switch (added) {
      case Added::Known:
        ++report_.known;
        break;
      case Added::Variant:
        ++report_.variants;
        break;
      case Added::Waiting:
        ++report_.waiting;
        break;
      case Added::New:
        ++(std::holds_alternative<Attempt>(line)       ? report_.attempts
           : std::holds_alternative<ForeignLine>(line) ? report_.foreign
                                                       : report_.others);
        break;
    }
  }

  void begin() {
    if (transaction_) return;
    transaction_.emplace(*impl_.database);
    indexes_later_ =
        impl_.database->integer("SELECT count(*) FROM (SELECT 1 FROM attempts LIMIT 1)") == 0;
    if (indexes_later_) impl_.database->execute(kDropIndexesOfAttempts);
  }

  Status commit() {
    if (indexes_later_) impl_.database->execute(kIndexesOfAttempts);
    Status status = transaction_->commit();
    transaction_.reset();
    pending_ = 0;
    if (!status) impl_.forget();
    return status;
  }

  Store::Impl& impl_;
  ImportReport& report_;
  std::optional<Transaction> transaction_;
  int64_t pending_ = 0;
  bool indexes_later_ = false;
};

// A read transaction: reads see one snapshot during its lifetime.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) {
    database_.statement("BEGIN").with().run();
  }
  ~Snapshot() {
    if (database_.in_transaction()) database_.statement("COMMIT").with().run();
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

Result<ImportReport> import_lines(const OpenStore& open, ByteReader reader, const StopToken& stop) {
  ImportReport report;
  std::optional<Importer> importer;
  LinePipeline pipeline(std::move(reader));
  for (auto batch = pipeline.next(); !batch.empty() && !stop.requested(); batch = pipeline.next()) {
    for (const ParsedLine& line : batch) {
      ++report.lines;
      if (!line.why.empty()) {
        add_malformed(line.number, line.why, &report);
        continue;
      }
      if (!importer) importer.emplace(TRY(open())->impl(), &report);
      TRY(importer->add(line.line, &line.id));
    }
  }
  if (importer) TRY(importer->finish());
  if (!stop.requested()) TRY(pipeline.status());
  return report;
}

constexpr size_t kDeclarations = 5;  // alternatives of Line before Attempt

struct Declaration {
  std::string text;
  Line line;
};

// Targets, tasks, machines, runs, trajectories, and variants of them, each sorted by text.
std::array<std::vector<Declaration>, kDeclarations> declarations_of(Database& database) {
  std::array<std::vector<Declaration>, kDeclarations> all;
  const auto put = [&](const Line& line) {
    if (line.index() < all.size()) all[line.index()].push_back({print_line(line), line});
  };
  Statement& targets = database.statement("SELECT text, extra FROM targets").with();
  while (targets.next()) {
    put(TargetLine{std::string(targets.text(0)), std::string(targets.text(1))});
  }
  Statement& tasks = database
                         .statement(
                             "SELECT t.key, t.workload, t.text, t.licences, g.text, t.extra "
                             "FROM tasks t JOIN targets g ON g.id = t.target")
                         .with();
  while (tasks.next()) put(TaskLine{Store::Impl::read_task(tasks), std::string(tasks.text(5))});
  Statement& machines = database.statement("SELECT key, content FROM machines").with();
  while (machines.next()) put(MachineLine{machines.hash(0), std::string(machines.text(1))});
  Statement& runs =
      database.statement("SELECT key, start_us, command, version, extra FROM runs").with();
  while (runs.next()) {
    put(RunLine{Run{.id = runs.hash(0),
                    .start_us = runs.integer(1),
                    .command = std::string(runs.text(2)),
                    .version = std::string(runs.text(3))},
                std::string(runs.text(4))});
  }
  Statement& trajectories =
      database.statement("SELECT key, run, trials, seconds, extra FROM trajectories").with();
  while (trajectories.next()) {
    put(TrajectoryLine{
        .key = trajectories.hash(0),
        .run = trajectories.hash(1),
        .completed = {.trials = trajectories.integer(2), .seconds = trajectories.real(3)},
        .extra = std::string(trajectories.text(4))});
  }
  Statement& variants =
      database.statement("SELECT line FROM foreign_lines WHERE kind = 'variant'").with();
  while (variants.next()) {
    if (Result<Line> line = parse_line(variants.text(0))) put(*line);
  }
  for (std::vector<Declaration>& lines : all) std::ranges::sort(lines, {}, &Declaration::text);
  return all;
}

}  // namespace

Status for_each_line(Store& store, const std::function<bool(const Line&)>& visit) {
  Store::Impl& impl = store.impl();
  Database& database = *impl.database;
  const Snapshot snapshot(database);
  for (const std::vector<Declaration>& lines : declarations_of(database)) {
    for (const Declaration& declaration : lines) {
      if (!visit(declaration.line)) return database.take_status();
    }
  }
  // Rows are ordered like their ids, except for neighbors with colliding numbers (row_number.h).
  Statement attempts(database, TILEWRIGHT_SELECT_ATTEMPTS "ORDER BY a.id");
  std::vector<std::pair<Hash128, Line>> neighbors;
  int64_t last = 0;
  const auto visit_neighbors = [&] {
    std::ranges::sort(neighbors, {}, &std::pair<Hash128, Line>::first);
    const bool more =
        std::ranges::all_of(neighbors, [&](const auto& one) { return visit(one.second); });
    neighbors.clear();
    return more;
  };
  while (attempts.next()) {
    const int64_t row = attempts.integer(kAttemptRow);
    if (row != last + 1 && !visit_neighbors()) return database.take_status();
    last = row;
    Attempt attempt = TRY(impl.read_attempt(attempts));
    neighbors.emplace_back(attempts.hash(0), std::move(attempt));
  }
  if (!visit_neighbors()) return database.take_status();
  Line line;
  for (const std::string_view kind : {"waiting", "unknown"}) {
    Statement lines(database, "SELECT line FROM foreign_lines WHERE kind = ? ORDER BY key");
    lines.with(kind);
    while (lines.next()) {
      line = ForeignLine{std::string(lines.text(0))};
      if (kind == "waiting") {  // its task may be in the other store
        Result<Line> parsed = parse_line(lines.text(0));
        if (parsed) line = std::move(*parsed);
      }
      if (!visit(line)) return database.take_status();
    }
  }
  return database.take_status();
}

Status export_ndjson(Store& store, const TextSink& write) {
  std::string text;
  bool wanted = true;
  Status status = for_each_line(store, [&](const Line& line) {
    if (const auto* attempt = std::get_if<Attempt>(&line)) {
      print_attempt(*attempt, &text);
    } else {
      text += print_line(line);
    }
    text += '\n';
    if (text.size() < kBlock) return true;
    wanted = write(text);
    text.clear();
    return wanted;
  });
  if (wanted) write(text);  // also the lines before an error
  return status;
}

Status export_ndjson(Store& store, std::ostream& out, const StopToken& stop) {
  TRY(export_ndjson(store, [&](std::string_view text) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    return out.good() && !stop.requested();
  }));
  if (!out.flush()) return fail(ErrorKind::Io, "the lines cannot be written: is the disk full?");
  return {};
}

OpenStore opened(Store& store) {
  return [&store]() -> Result<Store*> { return &store; };
}

Result<ImportReport> import_ndjson(const OpenStore& open, const std::filesystem::path& path,
                                   const StopToken& stop) {
  return import_lines(open, reader_of_file(path, stop), stop);
}

Result<ImportReport> import_ndjson(Store& store, const std::filesystem::path& path,
                                   const StopToken& stop) {
  return import_ndjson(opened(store), path, stop);
}

Result<ImportReport> import_ndjson_text(Store& store, std::string_view text) {
  return import_lines(opened(store), reader_of_text(text), {});
}

Result<ImportReport> merge(Store& into, Store& from, const StopToken& stop) {
  if (&into == &from) return ImportReport{};
  ImportReport report;
  Importer importer(into.impl(), &report);
  Status added;
  const Status read = for_each_line(from, [&](const Line& line) {
    ++report.lines;
    added = importer.add(line);
    return added.has_value() && !stop.requested();
  });
  TRY(added);
  const Status finished = importer.finish();
  TRY(read);
  TRY(finished);
  return report;
}

}  // namespace tilewright::record
