#include "app/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "base/json.h"
#include "record/permissions.h"
#include "record/print_line.h"
#include "target/machine.h"
#include "task/parse.h"

namespace tilewright::app {
namespace {

constexpr size_t kListed = 8;  // candidates listed for an ambiguous prefix
constexpr size_t kDigits = 32;

// Why a record is not exactly what was requested.
std::vector<std::string> remarks_on(record::Store& store, const record::Attempt& attempt,
                                    const std::optional<record::Protocol>& wanted,
                                    const Hash128& here) {
  std::vector<std::string> remarks;
  if (wanted && attempt.protocol != *wanted) {
    remarks.push_back(
        fmt::format("measured by another protocol: {}", print_protocol(attempt.protocol)));
  }
  if (attempt.machine != here) {
    const auto machine = store.find_machine(attempt.machine).value_or(std::optional<Machine>());
    remarks.push_back(fmt::format("measured on another machine: {}",
                                  machine ? machine->model : attempt.machine.hex()));
  }
  return remarks;
}

}  // namespace

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kDigits &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Result<record::Attempt> find_attempt(record::Store& store, std::string_view prefix) {
  if (!is_id(prefix)) {
    return fail(ErrorKind::BadInput,
                fmt::format("'{}' is not an id: {}", prefix.substr(0, 2 * kDigits), kIdForm));
  }
  std::string digits(prefix);
  std::ranges::transform(digits, digits.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<Hash128> ids = TRY(store.attempts_beginning(digits, kListed + 1));
  if (ids.empty()) {
    return fail(ErrorKind::BadInput, fmt::format("no attempt's id begins with {}", prefix));
  }
  if (ids.size() > 1) {
    std::string list;
    for (size_t k = 0; k < std::min(ids.size(), kListed); ++k) list += "\n  " + ids[k].hex();
    if (ids.size() > kListed) list += "\n  ...";
    return fail(
        ErrorKind::BadInput,
        fmt::format("several attempts' ids begin with {}; type more digits:{}", prefix, list));
  }
  std::optional<record::Attempt> attempt = TRY(store.find_attempt(ids.front()));
  if (!attempt) return fail(ErrorKind::Io, "the attempt cannot be read: " + ids.front().hex());
  return *std::move(attempt);
}

Status check_store_path(const std::string& path) {
  if (path.empty()) return fail(ErrorKind::BadInput, "the name of the store of records is empty");
  if (path != kNoRecords) return {};
  return fail(ErrorKind::BadInput,
              "`none` means no store of records, but one is needed here; name a file, or ./none "
              "for a file of that name",
              {{"records", "FILE"}});
}

Result<record::Store> open_store(const std::string& path, record::OpenAs how) {
  TRY(check_store_path(path));
  return record::Store::open(path, how);
}

Result<std::optional<record::Store>> open_records(const std::string& path) {
  if (path == kNoRecords) return std::nullopt;
  TRY(check_store_path(path));
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::nullopt;
  return TRY(record::Store::open(path, record::OpenAs::Reader));
}

Result<std::vector<record::StoredTask>> find_tasks(record::Store& store, std::string_view what) {
  const std::vector<record::StoredTask> all = TRY(store.tasks());
  std::vector<record::StoredTask> found;
  const Result<Workload> workload = parse_workload(what);
  const Hash128 key = workload ? workload->key() : Hash128{};
  for (const record::StoredTask& task : all) {
    if (task.text == what || (workload && task.workload == key)) found.push_back(task);
  }
  if (found.empty() && !what.empty()) {
    std::ranges::copy_if(all, std::back_inserter(found), [&](const record::StoredTask& task) {
      return task.key.hex().starts_with(what);
    });
  }
  if (!found.empty()) return found;
  if (workload) {
    return fail(ErrorKind::BadInput, fmt::format("there are no records of {}", what), {},
                {{"list_tasks", "", "lists the tasks that have some"}});
  }
  return fail(ErrorKind::BadInput, fmt::format("no task's key begins with '{}', and {}", what,
                                               workload.error().message));
}

Json attempt_json(const record::Attempt& attempt) {
  const auto text_json = [](const std::string& text) {
    return record::is_utf8(text) ? Json(text) : Json{{"hex", record::hex_of(text)}};
  };
  const record::Verdict& verdict = attempt.verdict;
  const record::Conditions& conditions = attempt.conditions;
  Json json = {{"id", attempt.id().hex()},
               {"run", attempt.run.hex()},
               {"sequence", attempt.sequence},
               {"task", attempt.task.hex()},
               {"program", attempt.program.hex()},
               {"trace", text_json(attempt.trace)},
               {"machine", attempt.machine.hex()},
               {"protocol", print_protocol(attempt.protocol)},
               {"code_generator", attempt.code_generator},
               {"start_us", attempt.start_us},
               {"end_us", attempt.end_us},
               {"verdict", text_of(verdict.kind)},
               {"latency_ns", verdict.latency_ns},
               {"samples_ns", verdict.samples_ns},
               {"text", text_json(verdict.text)},
               {"build_ns", conditions.build_ns},
               {"check_ns", conditions.check_ns},
               {"time_ns", conditions.time_ns},
               {"disturbed", conditions.disturbed},
               {"clock", conditions.clock},
               {"load", conditions.load}};
  if (attempt.extra.empty()) return json;
  // Members of a newer version, which this one only keeps.
  if (const Result<Json> extra = parse_json(attempt.extra); extra && extra->is_object()) {
    json.update(*extra);
  } else {
    json["extra"] = attempt.extra;
  }
  return json;
}

Json task_json(const record::StoredTask& task) {
  return {{"task", task.key.hex()},
          {"workload", task.workload.hex()},
          {"text", task.text},
          {"permissions", record::print_permissions(task.permissions)},
          {"target", task.target}};
}

double flop_of(const record::StoredTask& task) {
  const Result<Task> made = record::task_of(task);
  return made ? made->workload.dag->flop() : 0;
}

Result<std::vector<record::TaskSummary>> list_tasks(const std::string& records) {
  record::Store store = TRY(open_store(records, record::OpenAs::Reader));
  return store.summaries();
}

Status list_attempts(const ListOptions& options, AttemptListener& listener) {
  record::Store store = TRY(open_store(options.records, record::OpenAs::Reader));
  std::optional<record::VerdictKind> wanted;
  if (!options.verdict.empty()) wanted = TRY(record::parse_verdict_kind(options.verdict));
  for (const record::StoredTask& task : TRY(find_tasks(store, options.what))) {
    listener.on_task(task);
    size_t shown = 0;
    TRY(store.for_each_attempt(task.key, [&](const record::Attempt& attempt) {
      if (wanted && attempt.verdict.kind != *wanted) return true;
      listener.on_attempt(task, attempt);
      return ++shown != options.count;
    }));
  }
  return {};
}

Result<std::variant<AttemptDetails, Hash128>> find_named(const std::string& records,
                                                         const std::string& id) {
  record::Store store = TRY(open_store(records, record::OpenAs::Reader));
  const std::vector<Hash128> attempts = TRY(store.attempts_beginning(id, kListed));
  const std::vector<Hash128> tasks = TRY(store.tasks_beginning(id, kListed));
  if (id.empty() || attempts.size() + tasks.size() == 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("no attempt's id and no task's key begins with '{}'", id));
  }
  if (attempts.size() + tasks.size() > 1) {
    std::string list;
    for (const Hash128& one : attempts) list += fmt::format("\n  attempt {}", one.hex());
    for (const Hash128& one : tasks) list += fmt::format("\n  task    {}", one.hex());
    return fail(ErrorKind::BadInput,
                fmt::format("several begin with '{}'; type more digits:{}", id, list));
  }
  if (attempts.empty()) return tasks.front();
  const std::optional<record::Attempt> attempt = TRY(store.find_attempt(attempts.front()));
  if (!attempt) {
    return fail(ErrorKind::BadInput, fmt::format("there is no attempt {}", attempts.front().hex()));
  }
  AttemptDetails details{.attempt = *attempt, .task = {}, .machine = {}, .run = {}};
  details.task = TRY(store.find_task(attempt->task));
  details.run = TRY(store.find_run(attempt->run));
  // This version may be unable to read a machine described by a newer one.
  details.machine = store.find_machine(attempt->machine).value_or(std::optional<Machine>());
  return details;
}

Result<std::vector<BestRecord>> best_records(const BestOptions& options) {
  std::optional<record::Protocol> wanted;
  record::Protocol protocol;
  protocol.version = -1;  // matches no attempt, so that all of its back end count
  if (!options.protocol.empty()) {
    protocol = wanted.emplace(TRY(record::parse_protocol(options.protocol)));
  }
  record::Store store = TRY(open_store(options.records, record::OpenAs::Reader));
  const Hash128 here = record::machine_id(detect_machine());
  std::vector<BestRecord> records;
  for (const record::StoredTask& task : TRY(find_tasks(store, options.what))) {
    if (!wanted) {
      const std::vector<std::string> back_ends = TRY(store.back_ends(task.key));
      protocol.back_end = back_ends.empty() ? "" : back_ends.front();
    }
    auto best = TRY(store.best(task.key, protocol, options.count, here));
    if (best.empty()) best = TRY(store.best(task.key, protocol, options.count));
    for (const record::Attempt& attempt : best) {
      records.push_back({.task = task,
                         .attempt = attempt,
                         .remarks = remarks_on(store, attempt, wanted, here),
                         .flop = flop_of(task)});
    }
  }
  if (!records.empty()) return records;
  return fail(ErrorKind::BadInput, fmt::format("no attempt of {} was timed", options.what));
}

}  // namespace tilewright::app
