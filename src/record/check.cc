#include "record/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/json.h"
#include "record/row_number.h"
#include "record/store_impl.h"
#include "schedule/apply.h"
#include "schedule/program_hash.h"
#include "schedule/trace.h"

namespace tilewright::record {
namespace {

constexpr int64_t kMaxNamed = 10;

// Findings of one kind: the first few are listed, the others counted.
class Findings {
 public:
  explicit Findings(std::vector<std::string>* to) : to_(*to) {}
  void add(std::string text) {
    if (++count_ <= kMaxNamed) to_.push_back(std::move(text));
  }
  ~Findings() {
    if (count_ > kMaxNamed) {
      to_.push_back(fmt::format("... and {} more of this sort", count_ - kMaxNamed));
    }
  }
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

 private:
  std::vector<std::string>& to_;
  int64_t count_ = 0;
};

void check_file(Database& database, CheckReport* report) {
  Findings pages(&report->problems);
  Statement integrity(database, "PRAGMA integrity_check(100)");
  while (integrity.next()) {
    if (integrity.text(0) != "ok") pages.add(fmt::format("file: {}", integrity.text(0)));
  }
  Findings references(&report->problems);
  Statement keys(database, "PRAGMA foreign_key_check");
  while (keys.next()) {
    references.add(fmt::format("row {} of {} refers to a row of {} that is not there",
                               keys.integer(1), keys.text(0), keys.text(2)));
  }
  if (const Status status = database.take_status(); !status) {
    report->problems.push_back(status.error().message);
  }
}

void check_machines(Database& database, CheckReport* report) {
  Findings wrong(&report->problems);
  Statement machines(database, "SELECT key, content FROM machines");
  while (machines.next()) {
    const Result<Json> json = parse_json(machines.text(1));
    const Result<Machine> machine = json ? machine_from_json(*json) : std::unexpected(json.error());
    // With unknown members, its id covers more than this version can hash.
    if (!machine || print_json(machine_to_json(*machine)) != machines.text(1)) continue;
    if (machine_id(*machine) != machines.hash(0)) {
      wrong.add(fmt::format("machine {} has content of another id", machines.hash(0).hex()));
    }
  }
}

void check_attempts(Store::Impl& impl, CheckReport* report) {
  Findings wrong(&report->problems);
  Statement attempts(*impl.database, TILEWRIGHT_SELECT_ATTEMPTS);
  while (attempts.next()) {
    ++report->attempts;
    const Result<Attempt> attempt = impl.read_attempt(attempts);
    if (!attempt) {
      wrong.add(attempt.error().message);
    } else if (attempt->id() != attempts.hash(0)) {
      wrong.add(fmt::format("attempt {} has content of another id, {}", attempts.hash(0).hex(),
                            attempt->id().hex()));
    } else if (attempts.integer(kAttemptRow) < first_number(attempts.hash(0)) ||
               attempts.integer(kAttemptRow) > last_number(attempts.hash(0))) {
      wrong.add(
          fmt::format("attempt {} is stored under the wrong row number", attempt->id().hex()));
    }
  }
}

// A task as this version can build it, with its tree; empty if it cannot.
struct MadeTask {
  std::unique_ptr<Task> task;
  std::unique_ptr<schedule::LoopTree> initial;
};

std::map<int64_t, MadeTask> make_tasks(Database& database, CheckReport* report) {
  std::map<int64_t, MadeTask> made;
  Findings others(&report->remarks);
  Statement tasks(database,
                  "SELECT t.key, t.workload, t.text, t.licences, g.text, t.id FROM tasks t JOIN "
                  "targets g ON g.id = t.target");
  while (tasks.next()) {
    ++report->tasks;
    const StoredTask stored = Store::Impl::read_task(tasks);
    Result<Task> task = task_of(stored);
    if (!task) {
      others.add(fmt::format("task {}: {}", stored.key.hex(), task.error().message));
      continue;
    }
    MadeTask& one = made[tasks.integer(5)];
    one.task = std::make_unique<Task>(std::move(*task));
    Result<schedule::LoopTree> initial = schedule::initial_tree(one.task->workload);
    if (initial) one.initial = std::make_unique<schedule::LoopTree>(std::move(*initial));
  }
  return made;
}

void check_candidates(Database& database, int64_t programs, CheckReport* report) {
  const std::map<int64_t, MadeTask> tasks = make_tasks(database, report);
  const int64_t count = database.integer("SELECT count(*) FROM candidates");
  const int64_t stride = std::max<int64_t>(1, count / std::max<int64_t>(1, programs));
  Findings unreadable(&report->remarks);
  Findings damaged(&report->problems);
  Findings other_hash(&report->remarks);
  schedule::LoopTree tree;
  Statement candidates(database,
                       "SELECT c.id, c.task, c.program, s.text, c.numbers FROM candidates c JOIN "
                       "shapes s ON s.id = c.shape");
  while (candidates.next()) {
    const int64_t row = candidates.integer(0);
    const bool sampled = programs > 0 && report->candidates++ % stride == 0;
    const std::optional<std::string> text = expand_trace(candidates.text(3), candidates.text(4));
    if (!text) {
      damaged.add(fmt::format("candidate {}: its trace cannot be put together", row));
      continue;
    }
    const Result<schedule::Trace> trace = schedule::trace_from_text(*text);
    if (!trace) {
      unreadable.add(fmt::format("candidate {}: its trace: {}", row, trace.error().message));
      continue;
    }
    const auto task = tasks.find(candidates.integer(1));
    if (!sampled || task == tasks.end() || task->second.initial == nullptr) continue;
    ++report->programs;
    const bool illegal = static_cast<bool>(apply(*task->second.initial, *trace, &tree));
    const Hash128 program = illegal ? Hash128{} : program_hash(tree, task->second.task->target);
    // Older versions distinguished all memories on all targets.
    const bool is_older = !illegal && program_hash(tree) == candidates.hash(2);
    if (program != candidates.hash(2) && !is_older) {
      other_hash.add(fmt::format("candidate {}: its program is {} here, {} as written", row,
                                 program.hex(), candidates.hash(2).hex()));
    }
  }
}

}  // namespace

Result<CheckReport> check(Store& store, int64_t programs, const StopToken& stop) {
  CheckReport report;
  Store::Impl& impl = store.impl();
  Database& database = *impl.database;
  const Cancellation cancellation(database, stop);
  check_file(database, &report);
  if (!stop.requested()) check_machines(database, &report);
  if (!stop.requested()) check_attempts(impl, &report);
  if (!stop.requested()) check_candidates(database, programs, &report);
  report.foreign_lines = database.integer("SELECT count(*) FROM foreign_lines");
  if (stop.requested()) {
    const Status dropped = database.take_status();  // of the statement that was ended
    report = {};
    report.stopped = true;
    return report;
  }
  if (const Status status = database.take_status(); !status) {
    report.problems.push_back(status.error().message);
  }
  return report;
}

}  // namespace tilewright::record
