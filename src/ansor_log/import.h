// import_log: imports logs of Ansor (TVM's auto_scheduler): one JSON object per line,
//
//   {"i": [[workload key, target, ...], [[], [step...]]], "r": [[cost_s...], error, all_s, time],
//   "v"}
//
// A log names its workload by a function or a hash, not by its definition. So the caller names the
// task, and the extents that the splits record are checked against it. Each record whose steps
// convert (ansor_log/steps.h) becomes a legal trace. The store keeps traces as foreign lines of
// type `ansor`, together with the original record. Their times come from another compiler and an
// unknown machine, so they are never attempts: `best`, `measured` and all counts ignore them. To
// time the traces, measure them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/ndjson.h"
#include "record/store.h"

namespace tilewright::ansor_log {

struct LoggedTrace {
  std::string trace;     // text form
  double cost_s = 0;     // lowest of Ansor's times; 0 if there are none
  std::string workload;  // Ansor's key

  bool operator==(const LoggedTrace&) const = default;
};

struct ImportReport {
  int64_t records = 0;
  int64_t converted = 0;               // distinct traces, new or known
  int64_t again = 0;                   // records whose trace occurred before
  int64_t failed = 0;                  // failed when Ansor measured them; left out
  int64_t refused = 0;                 // unreadable, or cannot be converted
  std::vector<record::BadLine> named;  // the first rejected ones, each reason once
  std::vector<LoggedTrace> traces;     // fastest first
};

// Stores the task, and a foreign line for each trace. Without a trace, the store is not opened.
Result<ImportReport> import_log(const record::OpenStore& open, const Task& task,
                                const std::filesystem::path& path);

// The traces of earlier imports for a task, fastest first.
Result<std::vector<LoggedTrace>> imported_traces(record::Store& store, Hash128 task);

// Traces separated by lines `---`, as app/traces_file.h reads them.
std::string print_traces(const std::vector<LoggedTrace>& traces);

}  // namespace tilewright::ansor_log
