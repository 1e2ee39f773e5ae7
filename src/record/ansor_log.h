// Logs of Ansor (TVM's auto_scheduler) as a warm start: one JSON object a line,
//
//   {"i": [[workload key, target, ...], [[], [step...]]], "r": [[cost_s...], error, all_s, time],
//   "v"}
//
// A log does not say what is computed, only a name or a hash of it; so the caller says which task
// the records are of, and the extents that splits write down hold him to it. Each record whose
// steps can be walked (record/ansor_steps.h) becomes a legal trace. Traces are kept in the store as
// foreign lines of type `ansor`, with the record they come from; its times are Ansor's, of another
// compiler on some machine, and are no attempt of ours: best, measured and the counts of attempts
// never see them. To have times of ours, measure the traces:
//
//   tilewright records import log.json --ansor C2D2 -o C2D2.traces
//   tilewright measure C2D2 --traces C2D2.traces
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/ndjson.h"
#include "record/store.h"

namespace tilewright::record {

struct AnsorTrace {
  std::string trace;     // text form
  double cost_s = 0;     // the least of Ansor's; 0 when it had none
  std::string workload;  // Ansor's key

  bool operator==(const AnsorTrace&) const = default;
};

struct AnsorReport {
  int64_t records = 0;
  int64_t converted = 0;           // distinct traces, new or not
  int64_t again = 0;               // gave a trace that an earlier one gave
  int64_t failed = 0;              // failed when Ansor measured them: left out
  int64_t refused = 0;             // cannot be read, or not converted
  std::vector<BadLine> named;      // the first of the refused ones, each reason once
  std::vector<AnsorTrace> traces;  // fastest first
};

// Puts the task, and a foreign line for each trace.
Result<AnsorReport> import_ansor_log(Store& store, const Task& task,
                                     const std::filesystem::path& path);

// What earlier imports have left for a task, fastest first.
Result<std::vector<AnsorTrace>> ansor_traces(Store& store, Hash128 task);

// Traces one after the other, with lines `---` between: what `measure --traces` reads.
std::string print_traces(const std::vector<AnsorTrace>& traces);

}  // namespace tilewright::record
