// Store: all measurements, in one SQLite file (WAL). Tasks, targets, machines and runs are written
// once; candidates and attempts are appended. Nothing is changed or deleted, which triggers in the
// file enforce. Several processes may read and write one store concurrently. Imported lines that
// this version does not understand are kept and exported again.
//
// When append or a put_ function returns, its data is durable, even after `kill -9`. An error of
// kind Io (a full disk) leaves the store as it was before the call.
//
// Not thread-safe: each thread opens its own Store.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/attempt.h"
#include "record/schema.h"
#include "target/machine.h"
#include "task/workload.h"

namespace tilewright::record {

struct Run {
  Hash128 id;  // random
  int64_t start_us = 0;
  std::string command;  // command line, for display
  std::string version;  // of the program

  bool operator==(const Run&) const = default;
};

// The budget that a search completed.
struct CompletedBudget {
  int64_t trials = 0;
  double seconds = 0;  // 0: no time limit

  bool operator==(const CompletedBudget&) const = default;
};

// The runs of one search, which continue each other (tune/trajectory.h).
struct StoredTrajectory {
  std::vector<Run> runs;                   // in the order of their start
  std::vector<CompletedBudget> completed;  // by runs that were not interrupted
};

// The key of verdicts without the program.
struct Setting {
  Hash128 task;
  Hash128 machine;
  Protocol protocol;
  int64_t code_generator = 0;

  bool operator==(const Setting&) const = default;
};

// The stored form of a Task, from which it can be rebuilt.
struct StoredTask {
  Hash128 key;       // Task::key()
  Hash128 workload;  // Workload::key()
  std::string text;  // Workload::text
  FloatPermissions permissions;
  std::string target;  // print_target

  bool operator==(const StoredTask&) const = default;
};

// Summary of one task.
struct TaskSummary {
  StoredTask task;
  std::array<int64_t, kVerdictKinds> attempts{};  // per VerdictKind
  // Of the fastest timed attempt by the built-in back end of the target, or by the first other one
  // by name if it has none; 0: none.
  double best_ns = 0;
  Protocol best_protocol;

  int64_t count(VerdictKind kind) const { return attempts[static_cast<size_t>(kind)]; }
  int64_t all() const;     // number of attempts
  int64_t failed() const;  // of those, neither timed nor censored
};

Hash128 machine_id(const Machine& machine);
StoredTask stored_form(const Task& task);
// Parses the text; an error if the result has another key.
Result<Task> task_of(const StoredTask& stored);

class Store {
 public:
  // Creates the file, or upgrades an older schema; rejects a newer one, and foreign files. A Reader
  // changes nothing: see OpenAs.
  static Result<Store> open(const std::filesystem::path& path, OpenAs how = OpenAs::Create);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Status put_task(const Task& task);  // here and below, repeating it is not an error
  Status put_machine(const Machine& machine);
  Status put_run(const Run& run);
  // The same, as a run of that trajectory; `completed` if the run completed its budget.
  Status put_run(const Run& run, Hash128 trajectory, const CompletedBudget& completed = {});

  // Appends all or none. Task, machine and run must be in the store.
  Status append(std::span<const Attempt> attempts);

  // The latest verdict of each program measured in that setting, without failures of kind Device:
  // the programs that are not measured again. For illegal candidates, which have no program, one
  // per trace.
  Result<std::vector<Attempt>> measured(const Setting& setting);

  // The fastest timed attempts of a task, fastest first, one per program: those of `protocol` if
  // there are any, otherwise of any protocol of its back end. If `machine` is given, only on it.
  Result<std::vector<Attempt>> best(Hash128 task, const Protocol& protocol, size_t limit,
                                    std::optional<Hash128> machine = {});

  // Protocol::back_end of the timed attempts of a task, each once, ascending: the built-in one
  // first.
  Result<std::vector<std::string>> back_ends(Hash128 task);

  // The timed attempts of the last finals of a task: those of that interleaved protocol in one run
  // on one machine, fastest first, one per program. If `machine` is given, only on it.
  Result<std::vector<Attempt>> last_finals(Hash128 task, const Protocol& protocol,
                                           std::optional<Hash128> machine = {});
  // The lowest latency of a program; empty if there is none.
  Result<std::optional<double>> fastest_ns(Hash128 task, Hash128 program, const Protocol& protocol,
                                           Hash128 machine);

  Result<std::optional<Attempt>> find_attempt(Hash128 id);
  Result<std::optional<StoredTask>> find_task(Hash128 key);
  Result<std::optional<Machine>> find_machine(Hash128 id);
  Result<std::optional<Run>> find_run(Hash128 id);
  Result<StoredTrajectory> find_trajectory(Hash128 key);  // empty: there is none

  // Lines that are defined by another folder and only stored here: JSON objects that start with
  // "type". Exported unchanged. All or none.
  Status put_foreign_lines(std::span<const std::string> lines);
  // The lines of one type, ordered by the hash of their content.
  Result<std::vector<std::string>> foreign_lines(std::string_view type);

  // Keys with this hexadecimal prefix, ascending, up to `limit`. Empty for a prefix with other
  // characters or more than 32.
  Result<std::vector<Hash128>> attempts_beginning(std::string_view hex, size_t limit);
  Result<std::vector<Hash128>> tasks_beginning(std::string_view hex, size_t limit);

  Result<std::vector<StoredTask>> tasks();       // ordered by text, then target
  Result<std::vector<TaskSummary>> summaries();  // in the same order
  // Visits all attempts of a task, or of one setting, in the order of their start. `visit` returns
  // false to stop.
  Status for_each_attempt(Hash128 task, const std::function<bool(const Attempt&)>& visit);
  Status for_each_attempt(const Setting& setting, const std::function<bool(const Attempt&)>& visit);

  // A number that changes whenever another connection has written.
  Result<int64_t> version_of_others();

  struct Impl;  // internal to this folder: record/store_impl.h
  Impl& impl() { return *impl_; }

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::record
