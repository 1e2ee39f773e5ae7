#include "record/store_impl.h"

#include <fmt/format.h>

#include <vector>

#include "base/check.h"
#include "record/parse_line.h"
#include "record/permissions.h"
#include "record/print_line.h"
#include "record/row_number.h"

namespace tilewright::record {
namespace {

Hash128 hash_of(std::string_view text) { return Hasher().add_text(text).finish(); }

}  // namespace

void Store::Impl::forget() {
  tasks_.clear();
  machines_.clear();
  runs_.clear();
  shapes_.clear();
  protocols_.clear();
  task_keys_.clear();
  machine_keys_.clear();
  run_keys_.clear();
  shape_texts_.clear();
  protocol_values_.clear();
}

// ---- numbers of rows ----

std::optional<int64_t> Store::Impl::row_of(RowsByKey& known, std::string_view sql,
                                           const Hash128& key) {
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Statement& query = database->statement(sql).with(key);
  if (!query.next()) return std::nullopt;
  const int64_t row = query.integer(0);
  query.reset();
  known.emplace(key, row);
  return row;
}

std::optional<int64_t> Store::Impl::task_row(const Hash128& key) {
  return row_of(tasks_, "SELECT id FROM tasks WHERE key = ?", key);
}
std::optional<int64_t> Store::Impl::machine_row(const Hash128& key) {
  return row_of(machines_, "SELECT id FROM machines WHERE key = ?", key);
}
std::optional<int64_t> Store::Impl::run_row(const Hash128& key) {
  return row_of(runs_, "SELECT id FROM runs WHERE key = ?", key);
}

int64_t Store::Impl::intern(RowsByText& known, std::string_view find, std::string_view add,
                            const std::string& text) {
  if (const auto found = known.find(text); found != known.end()) return found->second;
  database->statement(add).with(text).run();
  Statement& query = database->statement(find).with(text);
  if (!query.next()) return 0;  // the database has failed
  const int64_t row = query.integer(0);
  query.reset();
  known.emplace(text, row);
  return row;
}

std::optional<int64_t> Store::Impl::protocol_row(const Protocol& protocol) {
  const std::string text = print_protocol(protocol);
  if (const auto found = protocols_.find(text); found != protocols_.end()) return found->second;
  Statement& query = database->statement("SELECT id FROM protocols WHERE text = ?").with(text);
  if (!query.next()) return std::nullopt;
  const int64_t row = query.integer(0);
  query.reset();
  return row;
}

const Protocol* Store::Impl::protocol_of(int64_t row) {
  if (const auto found = protocol_values_.find(row); found != protocol_values_.end()) {
    return &found->second;
  }
  Statement& query = database->statement("SELECT text FROM protocols WHERE id = ?").with(row);
  const Result<Protocol> parsed = parse_protocol(query.next() ? query.text(0) : "");
  query.reset();
  return parsed ? &protocol_values_.emplace(row, *parsed).first->second : nullptr;
}

const Hash128& Store::Impl::key_of(KeysByRow& known, std::string_view sql, int64_t row) {
  const auto [place, is_new] = known.try_emplace(row);
  if (is_new) {
    Statement& query = database->statement(sql).with(row);
    if (query.next()) place->second = query.hash(0);
    query.reset();
  }
  return place->second;
}

// ---- writing ----

Added Store::Impl::keep(std::string_view kind, const Hash128& key, std::string_view line) {
  database->statement("INSERT OR IGNORE INTO foreign_lines(key, kind, line) VALUES (?, ?, ?)")
      .with(key, kind, line)
      .run();
  if (database->failed() || database->changes() == 0) return Added::Known;
  return kind == "waiting" ? Added::Waiting : kind == "variant" ? Added::Variant : Added::New;
}

template <class Line>
Added Store::Impl::keep_variant(const Line& line) {
  const std::string text = print_line(line);
  return keep("variant", hash_of(text), text);
}

Added Store::Impl::add(const ForeignLine& line) {
  return keep("unknown", hash_of(line.text), line.text);
}

Added Store::Impl::add(const TargetLine& line) {
  database->statement("INSERT OR IGNORE INTO targets(text, extra) VALUES (?, ?)")
      .with(line.text, line.extra)
      .run();
  if (database->failed() || database->changes() > 0) return Added::New;
  Statement& query =
      database->statement("SELECT extra FROM targets WHERE text = ?").with(line.text);
  const bool same = !query.next() || query.text(0) == line.extra;
  query.reset();
  if (same) return Added::Known;
  return keep_variant(line);
}

Added Store::Impl::add(const TaskLine& line) {
  const StoredTask& task = line.task;
  database->statement("INSERT OR IGNORE INTO targets(text, extra) VALUES (?, '')")
      .with(task.target)
      .run();
  const std::string permissions = print_permissions(task.permissions);
  database
      ->statement(
          "INSERT OR IGNORE INTO tasks(key, workload, text, licences, target, extra) "
          "SELECT ?1, ?2, ?3, ?4, id, ?6 FROM targets WHERE text = ?5")
      .with(task.key, task.workload, task.text, permissions, task.target, line.extra)
      .run();
  if (database->failed() || database->changes() > 0) return Added::New;
  Statement& query =
      database
          ->statement(
              "SELECT t.workload, t.text, t.licences, t.extra, g.text FROM tasks t JOIN "
              "targets g ON g.id = t.target WHERE t.key = ?")
          .with(task.key);
  const bool same = !query.next() || (query.hash(0) == task.workload &&
                                      query.text(1) == task.text && query.text(2) == permissions &&
                                      query.text(3) == line.extra && query.text(4) == task.target);
  query.reset();
  if (same) return Added::Known;
  return keep_variant(line);
}

Added Store::Impl::add(const MachineLine& line) {
  database->statement("INSERT OR IGNORE INTO machines(key, content) VALUES (?, ?)")
      .with(line.id, line.content)
      .run();
  if (database->failed() || database->changes() > 0) return Added::New;
  Statement& query =
      database->statement("SELECT content FROM machines WHERE key = ?").with(line.id);
  const bool same = !query.next() || query.text(0) == line.content;
  query.reset();
  if (same) return Added::Known;
  return keep_variant(line);
}

Added Store::Impl::add(const RunLine& line) {
  const Run& run = line.run;
  database
      ->statement(
          "INSERT OR IGNORE INTO runs(key, start_us, command, version, extra) "
          "VALUES (?, ?, ?, ?, ?)")
      .with(run.id, run.start_us, run.command, run.version, line.extra)
      .run();
  if (database->failed() || database->changes() > 0) return Added::New;
  Statement& query =
      database->statement("SELECT start_us, command, version, extra FROM runs WHERE key = ?")
          .with(run.id);
  const bool same =
      !query.next() || (query.integer(0) == run.start_us && query.text(1) == run.command &&
                        query.text(2) == run.version && query.text(3) == line.extra);
  query.reset();
  if (same) return Added::Known;
  return keep_variant(line);
}

Added Store::Impl::add(const TrajectoryLine& line) {
  database
      ->statement(
          "INSERT OR IGNORE INTO trajectories(key, run, trials, seconds, extra) "
          "VALUES (?, ?, ?, ?, ?)")
      .with(line.key, line.run, line.completed.trials, line.completed.seconds, line.extra)
      .run();
  if (database->failed() || database->changes() > 0) return Added::New;
  Statement& query =
      database
          ->statement("SELECT trials, seconds, extra FROM trajectories WHERE key = ? AND run = ?")
          .with(line.key, line.run);
  const bool same =
      !query.next() || (query.integer(0) == line.completed.trials &&
                        query.real(1) == line.completed.seconds && query.text(2) == line.extra);
  query.reset();
  if (same) return Added::Known;
  return keep_variant(line);
}

Added Store::Impl::add(const Attempt& attempt, const Hash128& id) {
  const std::optional<int64_t> task = task_row(attempt.task);
  const std::optional<int64_t> machine = machine_row(attempt.machine);
  const std::optional<int64_t> run = run_row(attempt.run);
  if (!task || !machine || !run) {
    if (database->failed()) return Added::Known;
    std::string line;
    print_attempt(attempt, &line);
    return keep("waiting", id, line);
  }
  compact_trace(attempt.trace, &compact_);
  const int64_t shape = intern(shapes_, "SELECT id FROM shapes WHERE text = ?",
                               "INSERT OR IGNORE INTO shapes(text) VALUES (?)", compact_.shape);
  const int64_t protocol =
      intern(protocols_, "SELECT id FROM protocols WHERE text = ?",
             "INSERT OR IGNORE INTO protocols(text) VALUES (?)", print_protocol(attempt.protocol));
  const int64_t candidate =
      put_candidate(*database, *task, attempt.program, shape, compact_.numbers);
  compact_samples(attempt.verdict.samples_ns, &samples_);
  const Conditions& now = attempt.conditions;
  for (int64_t number = first_number(id); number <= last_number(id); ++number) {
    database
        ->statement(
            "INSERT OR IGNORE INTO attempts(id, key, task, candidate, machine, protocol, "
            "code_generator, run, sequence, start_us, end_us, verdict, latency_ns, samples, text, "
            "build_ns, check_ns, time_ns, disturbed, clock, load, extra) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(number, id, *task, candidate, *machine, protocol, attempt.code_generator, *run,
              attempt.sequence, attempt.start_us, attempt.end_us, text_of(attempt.verdict.kind),
              attempt.verdict.latency_ns, Blob{samples_}, attempt.verdict.text, now.build_ns,
              now.check_ns, now.time_ns, now.disturbed, now.clock, now.load, attempt.extra)
        .run();
    if (database->failed()) return Added::Known;
    if (database->changes() > 0) return Added::New;
    Statement& there = database->statement("SELECT key FROM attempts WHERE id = ?").with(number);
    const bool same = there.next() && there.hash(0) == id;
    there.reset();
    if (same || database->failed()) return Added::Known;
  }
  CHECK(false, "{} attempts have ids next to each other", kMaxTries);
  return Added::Known;
}

Added Store::Impl::add(const Line& line) {
  return std::visit([this](const auto& one) { return add(one); }, line);
}

int64_t Store::Impl::add_waiting() {
  // Stored after the query has ended: no table is read while it changes.
  std::vector<int64_t> done;
  int64_t arrived = 0;
  Statement& waiting =
      database->statement("SELECT id, line FROM foreign_lines WHERE kind = 'waiting'").with();
  while (waiting.next()) {
    Result<Line> line = parse_line(waiting.text(1));
    const auto* attempt = line ? std::get_if<Attempt>(&*line) : nullptr;
    if (attempt == nullptr || !task_row(attempt->task) || !machine_row(attempt->machine) ||
        !run_row(attempt->run)) {
      continue;
    }
    arrived += add(*attempt) == Added::New ? 1 : 0;
    done.push_back(waiting.integer(0));
  }
  for (const int64_t row : done) {
    database->statement("DELETE FROM foreign_lines WHERE id = ?").with(row).run();
  }
  return arrived;
}

// ---- reading ----

StoredTask Store::Impl::read_task(const Statement& row) {
  return {.key = row.hash(0),
          .workload = row.hash(1),
          .text = std::string(row.text(2)),
          .permissions = parse_permissions(row.text(3)).value_or(FloatPermissions{}),
          .target = std::string(row.text(4))};
}

Result<std::optional<Attempt>> Store::Impl::first_attempt(Statement& query) {
  const ResetGuard guard(query);
  if (!query.next()) return std::nullopt;
  return TRY(read_attempt(query));
}

Result<Attempt> Store::Impl::read_attempt(const Statement& row) {
  const auto damaged = [&](std::string_view what) {
    return fail(ErrorKind::BadInput, fmt::format("{}: {} of attempt {} cannot be read: the file is "
                                                 "damaged",
                                                 database->path(), what, row.hash(0).hex()));
  };
  Attempt attempt;
  attempt.task = key_of(task_keys_, "SELECT key FROM tasks WHERE id = ?", row.integer(1));
  attempt.machine = key_of(machine_keys_, "SELECT key FROM machines WHERE id = ?", row.integer(2));
  attempt.run = key_of(run_keys_, "SELECT key FROM runs WHERE id = ?", row.integer(5));
  const Protocol* const protocol = protocol_of(row.integer(3));
  if (protocol == nullptr) return damaged("the protocol");
  attempt.protocol = *protocol;
  attempt.code_generator = row.integer(4);
  attempt.sequence = row.integer(6);
  attempt.start_us = row.integer(7);
  attempt.end_us = row.integer(8);
  const Result<VerdictKind> kind = parse_verdict_kind(row.text(9));
  if (!kind) return damaged("the verdict");
  attempt.verdict.kind = *kind;
  attempt.verdict.latency_ns = row.real(10);
  std::optional<std::vector<double>> samples = expand_samples(row.text(11));
  if (!samples) return damaged("the samples");
  attempt.verdict.samples_ns = std::move(*samples);
  attempt.verdict.text = row.text(12);
  attempt.conditions = {.build_ns = row.real(13),
                        .check_ns = row.real(14),
                        .time_ns = row.real(15),
                        .disturbed = row.integer(16),
                        .clock = row.real(17),
                        .load = row.real(18)};
  attempt.extra = row.text(19);
  attempt.program = row.hash(20);
  const auto [shape, new_shape] = shape_texts_.try_emplace(row.integer(21));
  if (new_shape) {
    Statement& query =
        database->statement("SELECT text FROM shapes WHERE id = ?").with(row.integer(21));
    if (query.next()) shape->second = query.text(0);
    query.reset();
  }
  std::optional<std::string> trace = expand_trace(shape->second, row.text(22));
  if (!trace) return damaged("the trace");
  attempt.trace = std::move(*trace);
  return attempt;
}

}  // namespace tilewright::record
