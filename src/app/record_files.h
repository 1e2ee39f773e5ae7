// Stores and files: import of lines and of Ansor's logs, export, merge, and the check of a store.
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
#include "record/check.h"
#include "record/ndjson.h"  // IWYU pragma: export

namespace tilewright::app {

struct ImportOptions {
  std::string records = kDefaultRecords;
  std::vector<std::string> files{};
  std::string ansor{};    // the workload of Ansor's logs; empty: files of lines
  std::string traces{};   // with ansor: the file for all traces; empty: none
  TargetChoice target{};  // with ansor
};

class ImportListener {
 public:
  virtual ~ImportListener() = default;
  virtual void on_lines(const std::string& /*source*/, const record::ImportReport& /*report*/) {}
  virtual void on_log(const std::string& /*source*/, const ansor_log::ImportReport& /*report*/) {}
};

struct ImportOutcome {
  bool any = false;   // something could be read, or there was nothing to read
  size_t traces = 0;  // with ansor: of the task, in the store now
};

Result<ImportOutcome> import_records(const ImportOptions& options, ImportListener& listener);

// The file is replaced by a whole export or not at all. Its size in bytes.
Result<uint64_t> export_records(const std::string& records, const std::filesystem::path& file);
Status export_records(const std::string& records, std::ostream& out);

// `on_lines` once per other store, which is only read.
Status merge_records(const std::string& records, const std::vector<std::string>& others,
                     ImportListener& listener);

// `programs`: candidates whose program is made again.
Result<record::CheckReport> check_records(const std::string& records, int64_t programs);

}  // namespace tilewright::app
