// The store of records, as a user names it, and how a user names tasks and attempts in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace tilewright::app {

inline constexpr const char* kDefaultRecords = "tilewright.db";
inline constexpr const char* kNoRecords = "none";  // where a store is only read: without one

// The store for reading; nothing for kNoRecords or where there is no such file.
Result<std::optional<record::Store>> open_records(const std::string& path);

// The one attempt whose id begins with these digits. An error of kind BadInput when there is none,
// or when there are several: it lists them.
Result<record::Attempt> find_attempt(record::Store& store, std::string_view prefix);

// The stored tasks that a text means: an operator or a name of the suite (for every target it was
// measured for), or the beginning of a task's key. At least one, or an error.
Result<std::vector<record::StoredTask>> find_tasks(record::Store& store, std::string_view what);

// The fastest records of a task.
struct BestOptions {
  std::string records = kDefaultRecords;
  std::string what{};      // as for find_tasks
  std::string protocol{};  // preferred; empty: any
  size_t count = 1;        // of each task, one per program
};
struct BestRecord {
  record::StoredTask task;
  record::Attempt attempt;
  std::vector<std::string> remarks;  // another protocol, another machine
  double flop = 0;
};
// Of this machine where it has any. At least one, or an error.
Result<std::vector<BestRecord>> best_records(const BestOptions& options);

// FLOP of a task, 0 when this program cannot read its text.
double flop_of(const record::StoredTask& task);

}  // namespace tilewright::app
