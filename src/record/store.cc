#include "record/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/json.h"
#include "record/parse_line.h"
#include "record/row_number.h"
#include "record/store_impl.h"
#include "task/parse.h"

namespace tilewright::record {

Hash128 machine_id(const Machine& machine) {
  return Hasher().add_text(print_json(machine_to_json(machine))).finish();
}

int64_t TaskSummary::all() const {
  return std::accumulate(attempts.begin(), attempts.end(), int64_t{0});
}

int64_t TaskSummary::failed() const {
  return all() - count(VerdictKind::Timed) - count(VerdictKind::Censored);
}

StoredTask stored_form(const Task& task) {
  return {.key = task.key(),
          .workload = task.workload.key(),
          .text = task.workload.text,
          .permissions = task.workload.permissions,
          .target = print_target(task.target)};
}

Result<Task> task_of(const StoredTask& stored) {
  Workload workload = TRY(parse_workload(stored.text, stored.permissions));
  Target target = TRY(parse_target(stored.target));
  Task task{.workload = std::move(workload), .target = target};
  if (task.key() != stored.key) {
    return fail(ErrorKind::BadInput,
                fmt::format("task {} of the records differs from '{}' in this version ({}): the "
                            "definition of the operator has changed",
                            stored.key.hex(), stored.text, task.key().hex()));
  }
  return task;
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, OpenAs how) {
  std::unique_ptr<Database> database = TRY(open_schema(path, how));
  auto impl = std::make_unique<Impl>();
  impl->database = std::move(database);
  return Store(std::move(impl));
}

namespace {

// Runs `body` in a transaction; cached row numbers are dropped if it is rolled back.
template <class Body>
Status in_transaction(Store::Impl& impl, const Body& body) {
  Transaction transaction(*impl.database);
  body();
  Status status = transaction.commit();
  if (!status) impl.forget();
  return status;
}

// Programs are identified by their hash; without one (illegal traces) each candidate is distinct.
using Programs = std::unordered_set<Hash128>;

// The range [low, high] of the keys with a hexadecimal prefix; empty if it is not one.
std::optional<std::pair<Hash128, Hash128>> range_of(std::string_view hex) {
  if (hex.size() > 32) return std::nullopt;
  std::pair<Hash128, Hash128> range;
  for (size_t k = 0; k < 32; ++k) {
    uint64_t low = 0;
    uint64_t high = 15;
    if (k < hex.size()) {
      const char c = hex[k];
      if (c >= '0' && c <= '9') {
        low = static_cast<uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        low = static_cast<uint64_t>(c - 'a') + 10;
      } else {
        return std::nullopt;
      }
      high = low;
    }
    uint64_t& low_word = k < 16 ? range.first.high : range.first.low;
    uint64_t& high_word = k < 16 ? range.second.high : range.second.low;
    low_word = low_word << 4 | low;
    high_word = high_word << 4 | high;
  }
  return range;
}

// One machine and one protocol with timed attempts of a task.
struct TimedRange {
  int64_t machine = 0, protocol = 0;  // rows
};

// One by one: each step is a seek in the index, however many attempts a range has.
std::vector<TimedRange> timed_ranges(Database& database, int64_t task_row) {
  Statement& machines = database.statement(
      "SELECT min(machine) FROM attempts INDEXED BY attempts_by_latency "
      "WHERE verdict = 'timed' AND task = ? AND machine > ?");
  Statement& protocols = database.statement(
      "SELECT min(protocol) FROM attempts INDEXED BY attempts_by_latency "
      "WHERE verdict = 'timed' AND task = ? AND machine = ? AND protocol > ?");
  const auto next = [&](Statement& query, auto... bounds) {
    const int64_t row = query.with(task_row, bounds...).next() ? query.integer(0) : 0;
    query.reset();
    return row;  // 0 at the end: rows are numbered from 1
  };
  std::vector<TimedRange> ranges;
  for (int64_t on = next(machines, int64_t{0}); on != 0; on = next(machines, on)) {
    for (int64_t how = next(protocols, on, int64_t{0}); how != 0; how = next(protocols, on, how)) {
      ranges.push_back({.machine = on, .protocol = how});
    }
  }
  return ranges;
}

}  // namespace

Status Store::put_task(const Task& task) {
  return in_transaction(*impl_, [&] { impl_->add(TaskLine{stored_form(task), ""}); });
}

Status Store::put_machine(const Machine& machine) {
  const MachineLine line{machine_id(machine), print_json(machine_to_json(machine))};
  return in_transaction(*impl_, [&] { impl_->add(line); });
}

Status Store::put_run(const Run& run) {
  return in_transaction(*impl_, [&] { impl_->add(RunLine{run, ""}); });
}

Status Store::put_run(const Run& run, Hash128 trajectory, const CompletedBudget& completed) {
  return in_transaction(*impl_, [&] {
    impl_->add(RunLine{run, ""});
    impl_->add(
        TrajectoryLine{.key = trajectory, .run = run.id, .completed = completed, .extra = {}});
  });
}

Status Store::append(std::span<const Attempt> attempts) {
  for (const Attempt& attempt : attempts) {
    TRY(check_attempt(attempt));
    const bool known = impl_->task_row(attempt.task) && impl_->machine_row(attempt.machine) &&
                       impl_->run_row(attempt.run);
    TRY(impl_->database->take_status());
    if (!known) {
      return fail(ErrorKind::BadInput,
                  fmt::format("attempt {} is of a task, machine or run that was not put into {}",
                              attempt.id().hex(), impl_->database->path()));
    }
  }
  return in_transaction(*impl_, [&] {
    for (const Attempt& attempt : attempts) impl_->add(attempt);
  });
}

Status Store::put_foreign_lines(std::span<const std::string> lines) {
  return in_transaction(*impl_, [&] {
    for (const std::string& line : lines) impl_->add(ForeignLine{line});
  });
}

Result<std::vector<std::string>> Store::foreign_lines(std::string_view type) {
  const std::string begin = fmt::format("{{\"type\":\"{}\",", type);
  Statement& query = impl_->database
                         ->statement(
                             "SELECT line FROM foreign_lines WHERE kind = 'unknown' AND "
                             "substr(line, 1, length(?1)) = ?1 ORDER BY key")
                         .with(begin);
  std::vector<std::string> lines;
  while (query.next()) lines.emplace_back(query.text(0));
  TRY(impl_->database->take_status());
  return lines;
}

Result<int64_t> Store::version_of_others() {
  const int64_t version = impl_->database->integer("PRAGMA data_version");
  TRY(impl_->database->take_status());
  return version;
}

Result<std::optional<Attempt>> Store::find_attempt(Hash128 id) {
  Statement& query =
      impl_->database
          ->statement(TILEWRIGHT_SELECT_ATTEMPTS "WHERE a.id BETWEEN ? AND ? AND a.key = ?")
          .with(first_number(id), last_number(id), id);
  std::optional<Attempt> found = TRY(impl_->first_attempt(query));
  TRY(impl_->database->take_status());
  return found;
}

Result<std::optional<StoredTask>> Store::find_task(Hash128 key) {
  Statement& query =
      impl_->database
          ->statement(
              "SELECT t.key, t.workload, t.text, t.licences, g.text FROM tasks t JOIN "
              "targets g ON g.id = t.target WHERE t.key = ?")
          .with(key);
  std::optional<StoredTask> found;
  if (query.next()) found = Impl::read_task(query);
  query.reset();
  TRY(impl_->database->take_status());
  return found;
}

Result<std::optional<Machine>> Store::find_machine(Hash128 id) {
  Statement& query =
      impl_->database->statement("SELECT content FROM machines WHERE key = ?").with(id);
  std::optional<std::string> content;
  if (query.next()) content = query.text(0);
  query.reset();
  TRY(impl_->database->take_status());
  if (!content) return std::nullopt;
  const Json json = TRY(parse_json(*content));
  return TRY(machine_from_json(json));
}

Result<std::optional<Run>> Store::find_run(Hash128 id) {
  Statement& query =
      impl_->database->statement("SELECT start_us, command, version FROM runs WHERE key = ?")
          .with(id);
  std::optional<Run> found;
  if (query.next()) {
    found = Run{.id = id,
                .start_us = query.integer(0),
                .command = std::string(query.text(1)),
                .version = std::string(query.text(2))};
  }
  query.reset();
  TRY(impl_->database->take_status());
  return found;
}

Result<StoredTrajectory> Store::find_trajectory(Hash128 key) {
  Statement& query = impl_->database
                         ->statement(
                             "SELECT r.key, r.start_us, r.command, r.version, t.trials, t.seconds "
                             "FROM trajectories t JOIN runs r ON r.key = t.run WHERE t.key = ? "
                             "ORDER BY r.start_us, r.key")
                         .with(key);
  StoredTrajectory found;
  while (query.next()) {
    found.runs.push_back({.id = query.hash(0),
                          .start_us = query.integer(1),
                          .command = std::string(query.text(2)),
                          .version = std::string(query.text(3))});
    const CompletedBudget completed{.trials = query.integer(4), .seconds = query.real(5)};
    if (completed != CompletedBudget{}) found.completed.push_back(completed);
  }
  TRY(impl_->database->take_status());
  return found;
}

// --- queries over many attempts ---

Result<std::vector<Attempt>> Store::measured(const Setting& setting) {
  const auto task = impl_->task_row(setting.task);
  const auto machine = impl_->machine_row(setting.machine);
  const auto protocol = impl_->protocol_row(setting.protocol);
  std::vector<Attempt> found;
  if (task && machine && protocol) {
    struct Latest {
      int64_t row = 0, end_us = 0;
      Hash128 key;
    };
    std::unordered_map<Hash128, Latest> latest;
    Statement& query =
        impl_->database
            ->statement(
                "SELECT a.id, a.end_us, a.key, c.program, c.id FROM attempts a JOIN candidates c "
                "ON c.id = a.candidate WHERE a.task = ? AND a.machine = ? AND a.protocol = "
                "? AND a.code_generator = ? AND a.verdict <> 'device'")
            .with(*task, *machine, *protocol, setting.code_generator);
    while (query.next()) {
      Hash128 program = query.hash(3);
      if (program == Hash128{}) program.low = static_cast<uint64_t>(query.integer(4));
      const Latest one{.row = query.integer(0), .end_us = query.integer(1), .key = query.hash(2)};
      Latest& best = latest[program];
      if (best.row == 0 || std::pair(one.end_us, one.key) > std::pair(best.end_us, best.key)) {
        best = one;
      }
    }
    std::vector<int64_t> rows;
    rows.reserve(latest.size());
    for (const auto& [program, one] : latest) rows.push_back(one.row);
    std::ranges::sort(rows);
    found.reserve(rows.size());
    Statement& read = impl_->database->statement(TILEWRIGHT_SELECT_ATTEMPTS "WHERE a.id = ?");
    for (const int64_t row : rows) {
      std::optional<Attempt> attempt = TRY(impl_->first_attempt(read.with(row)));
      if (!attempt) break;
      found.push_back(*std::move(attempt));
    }
  }
  TRY(impl_->database->take_status());
  return found;
}

Result<std::vector<std::string>> Store::back_ends(Hash128 task) {
  std::set<std::string> names;
  if (const auto row = impl_->task_row(task)) {
    for (const TimedRange& range : timed_ranges(*impl_->database, *row)) {
      if (const Protocol* const how = impl_->protocol_of(range.protocol)) {
        names.insert(how->back_end);
      }
    }
  }
  TRY(impl_->database->take_status());
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<Attempt>> Store::best(Hash128 task, const Protocol& protocol, size_t limit,
                                         std::optional<Hash128> machine) {
  Database& database = *impl_->database;
  const auto task_row = impl_->task_row(task);
  const auto wanted_machine = machine ? impl_->machine_row(*machine) : std::optional<int64_t>(0);
  const auto wanted_protocol = impl_->protocol_row(protocol);

  // The relevant ranges of the index, each fastest first.
  std::vector<TimedRange> ranges;
  if (task_row && wanted_machine && limit > 0) ranges = timed_ranges(database, *task_row);
  std::erase_if(ranges, [&](const TimedRange& range) {
    if (machine && range.machine != *wanted_machine) return true;
    const Protocol* const how = impl_->protocol_of(range.protocol);
    return how == nullptr || how->back_end != protocol.back_end;
  });
  const auto is_wanted = [&](const TimedRange& range) { return range.protocol == wanted_protocol; };
  if (std::ranges::any_of(ranges, is_wanted)) std::erase_if(ranges, std::not_fn(is_wanted));

  struct Entry {
    double latency_ns = 0;
    Hash128 key;
    int64_t row = 0;
    Hash128 program;
  };
  std::vector<Entry> entries;
  for (const TimedRange& range : ranges) {
    Statement& query =
        database
            .statement(
                "SELECT a.latency_ns, a.key, a.id, c.program FROM attempts a JOIN "
                "candidates c ON c.id = a.candidate WHERE a.verdict = 'timed' AND a.task = "
                "? AND a.machine = ? AND a.protocol = ? ORDER BY a.latency_ns")
            .with(*task_row, range.machine, range.protocol);
    Programs programs;
    double last_ns = 0;
    while (query.next()) {
      const Entry entry{query.real(0), query.hash(1), query.integer(2), query.hash(3)};
      // Includes ties with the last one: their keys decide which of them counts.
      if (programs.size() >= limit && entry.latency_ns > last_ns) break;
      last_ns = entry.latency_ns;
      programs.insert(entry.program == Hash128{} ? entry.key : entry.program);
      entries.push_back(entry);
    }
    query.reset();
  }
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.latency_ns, e.key); });

  std::vector<Attempt> found;
  Programs programs;
  Statement& read = database.statement(TILEWRIGHT_SELECT_ATTEMPTS "WHERE a.id = ?");
  for (const Entry& entry : entries) {
    if (found.size() >= limit) break;
    if (entry.program != Hash128{} && !programs.insert(entry.program).second) continue;
    std::optional<Attempt> attempt = TRY(impl_->first_attempt(read.with(entry.row)));
    if (!attempt) break;
    found.push_back(*std::move(attempt));
  }
  TRY(database.take_status());
  return found;
}

Result<std::vector<Attempt>> Store::last_finals(Hash128 task, const Protocol& protocol,
                                                std::optional<Hash128> machine) {
  const auto task_row = impl_->task_row(task);
  const auto protocol_row = impl_->protocol_row(protocol);
  const auto machine_row = machine ? impl_->machine_row(*machine) : std::optional<int64_t>(0);
  std::vector<Attempt> finals;
  if (!task_row || !protocol_row || !machine_row) return finals;
  Statement& last = impl_->database
                        ->statement(
                            "SELECT run, machine FROM attempts WHERE task = ? AND protocol = ? AND "
                            "(? = 0 OR machine = ?) AND verdict <> 'device' "
                            "ORDER BY end_us DESC, key DESC LIMIT 1")
                        .with(*task_row, *protocol_row, *machine_row, *machine_row);
  int64_t run = 0, on = 0;
  if (last.next()) {
    run = last.integer(0);
    on = last.integer(1);
  }
  last.reset();
  Statement& query =
      impl_->database
          ->statement(TILEWRIGHT_SELECT_ATTEMPTS
                      "WHERE a.task = ? AND a.protocol = ? AND a.run = ? AND a.machine = ? AND "
                      "a.verdict <> 'device' ORDER BY a.end_us DESC, a.key DESC")
          .with(*task_row, *protocol_row, run, on);
  const ResetGuard guard(query);
  Programs programs;  // the latest verdict of each counts
  while (query.next()) {
    Attempt attempt = TRY(impl_->read_attempt(query));
    if (!programs.insert(attempt.program).second) continue;
    if (attempt.verdict.kind == VerdictKind::Timed) finals.push_back(std::move(attempt));
  }
  TRY(impl_->database->take_status());
  std::ranges::sort(finals, {}, [](const Attempt& one) {
    return std::pair(one.verdict.latency_ns, one.program);
  });
  return finals;
}

Result<std::optional<double>> Store::fastest_ns(Hash128 task, Hash128 program,
                                                const Protocol& protocol, Hash128 machine) {
  const auto task_row = impl_->task_row(task);
  const auto protocol_row = impl_->protocol_row(protocol);
  const auto machine_row = impl_->machine_row(machine);
  std::optional<double> fastest;
  if (task_row && protocol_row && machine_row) {
    Statement& query =
        impl_->database
            ->statement(
                "SELECT a.latency_ns FROM attempts a JOIN candidates c ON c.id = a.candidate WHERE "
                "a.verdict = 'timed' AND a.task = ? AND a.machine = ? AND a.protocol = ? AND "
                "c.program = ? ORDER BY a.latency_ns LIMIT 1")
            .with(*task_row, *machine_row, *protocol_row, program);
    if (query.next()) fastest = query.real(0);
    query.reset();
  }
  TRY(impl_->database->take_status());
  return fastest;
}

Result<std::vector<Hash128>> Store::attempts_beginning(std::string_view hex, size_t limit) {
  const auto range = range_of(hex);
  if (!range) return std::vector<Hash128>();
  // By their numbers, which are prefixes of their keys.
  std::vector<Hash128> keys;
  Statement& query =
      impl_->database
          ->statement(
              "SELECT key FROM attempts WHERE id BETWEEN ? AND ? AND key BETWEEN ? AND ? "
              "ORDER BY id LIMIT ?")
          .with(first_number(range->first), last_number(range->second), range->first, range->second,
                static_cast<int64_t>(limit));
  while (query.next()) keys.push_back(query.hash(0));
  TRY(impl_->database->take_status());
  std::ranges::sort(keys);
  return keys;
}

Result<std::vector<Hash128>> Store::tasks_beginning(std::string_view hex, size_t limit) {
  const auto range = range_of(hex);
  if (!range) return std::vector<Hash128>();
  std::vector<Hash128> keys;
  Statement& query =
      impl_->database
          ->statement("SELECT key FROM tasks WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?")
          .with(range->first, range->second, static_cast<int64_t>(limit));
  while (query.next()) keys.push_back(query.hash(0));
  TRY(impl_->database->take_status());
  return keys;
}

Result<std::vector<StoredTask>> Store::tasks() {
  std::vector<StoredTask> tasks;
  Statement& query =
      impl_->database
          ->statement(
              "SELECT t.key, t.workload, t.text, t.licences, g.text FROM tasks t JOIN "
              "targets g ON g.id = t.target ORDER BY t.text, g.text, t.key")
          .with();
  while (query.next()) tasks.push_back(Impl::read_task(query));
  TRY(impl_->database->take_status());
  return tasks;
}

Result<std::vector<TaskSummary>> Store::summaries() {
  Database& database = *impl_->database;
  std::vector<StoredTask> all = TRY(tasks());
  std::vector<TaskSummary> summaries;
  std::unordered_map<int64_t, size_t> places;  // by row
  for (StoredTask& task : all) {
    places.emplace(impl_->task_row(task.key).value_or(0), summaries.size());
    summaries.emplace_back().task = std::move(task);
  }
  Statement& counts =
      database.statement("SELECT task, verdict, count(*) FROM attempts GROUP BY task, verdict")
          .with();
  while (counts.next()) {
    const Result<VerdictKind> kind = parse_verdict_kind(counts.text(1));
    const auto place = places.find(counts.integer(0));
    if (!kind || place == places.end()) continue;
    summaries[place->second].attempts[static_cast<size_t>(*kind)] = counts.integer(2);
  }
  TRY(database.take_status());
  for (TaskSummary& summary : summaries) {
    const std::vector<std::string> names = TRY(back_ends(summary.task.key));
    if (names.empty()) continue;
    const Protocol any{.version = -1, .back_end = names.front()};  // matches none
    const std::vector<Attempt> fastest = TRY(best(summary.task.key, any, 1));
    if (fastest.empty()) continue;
    summary.best_ns = fastest.front().verdict.latency_ns;
    summary.best_protocol = fastest.front().protocol;
  }
  return summaries;
}

Status Store::for_each_attempt(Hash128 task, const std::function<bool(const Attempt&)>& visit) {
  const auto row = impl_->task_row(task);
  if (row) {
    // A separate statement: `visit` may query the store, including this function.
    Statement query(*impl_->database, TILEWRIGHT_SELECT_ATTEMPTS
                    "WHERE a.task = ? ORDER BY a.start_us, a.sequence, a.key");
    query.with(*row);
    while (query.next()) {
      const Attempt attempt = TRY(impl_->read_attempt(query));
      if (!visit(attempt)) break;
    }
  }
  return impl_->database->take_status();
}

Status Store::for_each_attempt(const Setting& setting,
                               const std::function<bool(const Attempt&)>& visit) {
  const auto task = impl_->task_row(setting.task);
  const auto machine = impl_->machine_row(setting.machine);
  const auto protocol = impl_->protocol_row(setting.protocol);
  if (task && machine && protocol) {
    Statement query(*impl_->database, TILEWRIGHT_SELECT_ATTEMPTS
                    "WHERE a.task = ? AND a.machine = ? AND a.protocol = ? AND "
                    "a.code_generator = ? ORDER BY a.start_us, a.sequence, a.key");
    query.with(*task, *machine, *protocol, setting.code_generator);
    while (query.next()) {
      if (!visit(TRY(impl_->read_attempt(query)))) break;
    }
  }
  return impl_->database->take_status();
}

}  // namespace tilewright::record
