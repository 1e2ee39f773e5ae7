// Operations on whole stores: import of NDJSON lines and of Ansor logs, export, merge and check. A
// stop keeps what was added to a store, and writes no file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "ansor_log/import.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "record/check.h"
#include "record/ndjson.h"  // IWYU pragma: export

namespace tilewright::app {

struct ImportOptions {
  std::string records = kDefaultRecords;
  std::vector<std::string> files{};
  std::string ansor{};    // workload of the Ansor logs; empty: files of NDJSON lines
  std::string traces{};   // with ansor: file for all traces; empty: none
  TargetChoice target{};  // with ansor
};

class ImportListener {
 public:
  virtual ~ImportListener() = default;
  virtual void on_lines(const std::string& /*source*/, const record::ImportReport& /*report*/) {}
  virtual void on_log(const std::string& /*source*/, const ansor_log::ImportReport& /*report*/) {}
};

struct ImportOutcome {
  bool any = false;   // at least one line was readable, or the input was empty
  size_t traces = 0;  // with ansor: traces of the task that are now in the store
  bool stopped = false;
};

Result<ImportOutcome> import_records(const ImportOptions& options, ImportListener& listener,
                                     const StopToken& stop);

struct ExportOutcome {
  uint64_t bytes = 0;  // of the file
  int64_t lines = 0;
  std::string damage{};  // of the store, in words: there are only the lines that can be read
  bool stopped = false;
};

// Replaces the file atomically (base/atomic_file.h). Of a damaged store, all that can be read is
// written (record/salvage.h); an error if that is nothing.
Result<ExportOutcome> export_records(const std::string& records, const std::filesystem::path& file,
                                     const StopToken& stop);
Result<ExportOutcome> export_records(const std::string& records, std::ostream& out,
                                     const StopToken& stop);

struct MergeOutcome {
  bool stopped = false;
};

// Calls `on_lines` once per other store. The others are only read.
Result<MergeOutcome> merge_records(const std::string& records,
                                   const std::vector<std::string>& others, ImportListener& listener,
                                   const StopToken& stop);

// `programs`: number of candidates whose program is rebuilt and compared. If the store cannot be
// opened because it is damaged, that is a problem, and the rest is about the records that can be
// read.
Result<record::CheckReport> check_records(const std::string& records, int64_t programs,
                                          const StopToken& stop);

}  // namespace tilewright::app
