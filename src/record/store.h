// Store: all that was ever measured, in one SQLite file (WAL). Tasks, targets, machines and runs
// are written once, candidates and attempts are appended; nothing is changed or deleted, and
// triggers in the file see to it. Several processes may read and write one store at once. Lines of
// an import that this version does not understand are kept and exported again.
//
// What append and the put_ functions have returned from is on the disk: also `kill -9` keeps it.
// Errors of kind Io (a full disk) leave the store as it was before the call.
//
// Not to be shared between threads: each opens its own.
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
  std::string command;  // what was asked for, for people
  std::string version;  // of the program

  bool operator==(const Run&) const = default;
};

// How far a search has come that ended by itself.
struct CompletedBudget {
  int64_t trials = 0;
  double seconds = 0;  // 0: it had no limit of time

  bool operator==(const CompletedBudget&) const = default;
};

// The runs of one search that follow from each other (tune/trajectory.h).
struct StoredTrajectory {
  std::vector<Run> runs;                   // in the order of their start
  std::vector<CompletedBudget> completed;  // by those that ended by themselves
};

// What resume asks by: everything but the program.
struct Setting {
  Hash128 task;
  Hash128 machine;
  Protocol protocol;
  int64_t code_generator = 0;

  bool operator==(const Setting&) const = default;
};

// The stored form of a Task, enough to make it again.
struct StoredTask {
  Hash128 key;       // Task::key()
  Hash128 workload;  // Workload::key()
  std::string text;  // Workload::text
  FloatPermissions permissions;
  std::string target;  // print_target

  bool operator==(const StoredTask&) const = default;
};

// What a store holds of one task.
struct TaskSummary {
  StoredTask task;
  std::array<int64_t, kVerdictKinds> attempts{};  // by VerdictKind
  double best_ns = 0;                             // of the fastest timed attempt; 0: none
  std::string best_protocol;                      // of that one
};

Hash128 machine_id(const Machine& machine);
StoredTask stored_form(const Task& task);
// Parses the text again; an error when what it gives has another key.
Result<Task> task_of(const StoredTask& stored);

class Store {
 public:
  // Creates the file, or upgrades an older schema; refuses a newer one, and files of others.
  // A Reader changes nothing: see OpenAs.
  static Result<Store> open(const std::filesystem::path& path, OpenAs how = OpenAs::Create);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Status put_task(const Task& task);  // again is no error, here and below
  Status put_machine(const Machine& machine);
  Status put_run(const Run& run);
  // The same, as a run of that trajectory; `completed` where it ends there by itself.
  Status put_run(const Run& run, Hash128 trajectory, const CompletedBudget& completed = {});

  // All or none. Task, machine and run have been put.
  Status append(std::span<const Attempt> attempts);

  // The latest verdict of each program measured in that setting, failures of kind Device left out:
  // what is not to be measured again. Illegal candidates have no program: one a trace.
  Result<std::vector<Attempt>> measured(const Setting& setting);

  // The fastest timed attempts of a task, fastest first, one per program: those of `protocol` if
  // there are any, else of any; on `machine` only where one is given.
  Result<std::vector<Attempt>> best(Hash128 task, const Protocol& protocol, size_t limit,
                                    std::optional<Hash128> machine = {});

  // What was timed in the last comparison in turns that was held of a task: attempts of that
  // interleaved protocol and of one run and machine, fastest first, one per program. On `machine`
  // only where one is given.
  Result<std::vector<Attempt>> last_finals(Hash128 task, const Protocol& protocol,
                                           std::optional<Hash128> machine = {});
  // The least time of one program; none: it has no such time.
  Result<std::optional<double>> fastest_ns(Hash128 task, Hash128 program, const Protocol& protocol,
                                           Hash128 machine);

  Result<std::optional<Attempt>> find_attempt(Hash128 id);
  Result<std::optional<StoredTask>> find_task(Hash128 key);
  Result<std::optional<Machine>> find_machine(Hash128 id);
  Result<std::optional<Run>> find_run(Hash128 id);
  Result<StoredTrajectory> find_trajectory(Hash128 key);  // empty: there is none

  // Lines that another folder defines and this one only keeps: objects with "type" first, as JSON
  // text. Exports have them as they are. All or none.
  Status put_foreign_lines(std::span<const std::string> lines);
  // Those of one type, in the order of their content's hash.
  Result<std::vector<std::string>> foreign_lines(std::string_view type);

  // Keys that begin with these hexadecimal digits, ascending, up to `limit`; a prefix with other
  // characters or more than 32 gives none.
  Result<std::vector<Hash128>> attempts_beginning(std::string_view hex, size_t limit);
  Result<std::vector<Hash128>> tasks_beginning(std::string_view hex, size_t limit);

  Result<std::vector<StoredTask>> tasks();       // ordered by text, then target
  Result<std::vector<TaskSummary>> summaries();  // in the same order
  // All attempts of a task, or of one setting, in the order of their start. `visit` returns false
  // to stop.
  Status for_each_attempt(Hash128 task, const std::function<bool(const Attempt&)>& visit);
  Status for_each_attempt(const Setting& setting, const std::function<bool(const Attempt&)>& visit);

  // Another number whenever somebody else has written since: what was read may have grown.
  Result<int64_t> version_of_others();

  struct Impl;  // of this folder: record/store_impl.h
  Impl& impl() { return *impl_; }

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::record
