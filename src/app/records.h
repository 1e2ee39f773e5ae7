// Opens the store that a user names, and resolves the user's names of tasks and attempts in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "record/store.h"  // IWYU pragma: export
#include "target/machine.h"

namespace tilewright::app {

inline constexpr const char* kDefaultRecords = "tilewright.db";
inline constexpr const char* kNoRecords = "none";  // no store, also if there is a file `none`

// Opens the store, for jobs that need one. An error for kNoRecords and for an empty path.
Result<record::Store> open_store(const std::string& path, record::OpenAs how);

// Opens the store for reading, for jobs that also work without one. Empty for kNoRecords or if
// there is no such file; an error for an empty path.
Result<std::optional<record::Store>> open_records(const std::string& path);

// An error if open_store refuses the path whatever is on the disk.
Status check_store_path(const std::string& path);

inline constexpr const char* kIdForm =
    "ids have 32 hexadecimal digits, of which the first few are enough";
bool is_id(std::string_view text);  // the first digits of an id, or all

// The one attempt whose id begins with these digits. An error of kind BadInput if there is none, or
// if there are several; the error lists them.
Result<record::Attempt> find_attempt(record::Store& store, std::string_view prefix);

// The stored tasks that a text denotes: an operator or a name of the suite (for every measured
// target), or a prefix of a task's key. At least one, or an error.
Result<std::vector<record::StoredTask>> find_tasks(record::Store& store, std::string_view what);

// All tasks of a store with their counts.
Result<std::vector<record::TaskSummary>> list_tasks(const std::string& records);

// The attempts of tasks, in the order of the store.
struct ListOptions {
  std::string records = kDefaultRecords;
  std::string what{};     // as for find_tasks
  std::string verdict{};  // only attempts with this verdict; empty: all
  size_t count = 0;       // per task; 0: all
};
class AttemptListener {
 public:
  virtual ~AttemptListener() = default;
  virtual void on_task(const record::StoredTask& /*task*/) {}
  virtual void on_attempt(const record::StoredTask& /*task*/, const record::Attempt& /*attempt*/) {}
};
Status list_attempts(const ListOptions& options, AttemptListener& listener);

// The result of looking up a prefix: an attempt with its stored details, or a task's key.
struct AttemptDetails {
  record::Attempt attempt;
  std::optional<record::StoredTask> task;
  std::optional<Machine> machine;
  std::optional<record::Run> run;
};
Result<std::variant<AttemptDetails, Hash128>> find_named(const std::string& records,
                                                         const std::string& id);

// The fastest records of a task.
struct BestOptions {
  std::string records = kDefaultRecords;
  std::string what{};      // as for find_tasks
  std::string protocol{};  // preferred; empty: any
  size_t count = 1;        // per task, one per program
};
struct BestRecord {
  record::StoredTask task;
  record::Attempt attempt;
  std::vector<std::string> remarks;  // such as another protocol or another machine
  double flop = 0;
};
// Records of this machine are preferred. Per task they are of one back end: that of the protocol;
// without one the built-in one, or the first other one by name if it has none. At least one, or an
// error.
Result<std::vector<BestRecord>> best_records(const BestOptions& options);

// The members that export_records writes, without the type and the version of the line.
Json attempt_json(const record::Attempt& attempt);

Json task_json(const record::StoredTask& task);

// FLOP of a task; 0 if this version cannot parse its text.
double flop_of(const record::StoredTask& task);

}  // namespace tilewright::app
