// Import, export and merge of stores as NDJSON: one JSON object per line (record/line.h,
// docs/records.md). Nothing is lost, and the text is canonical: equal contents give equal bytes, so
//
//   export(import(export(x))) == export(x)       the round trip is the identity
//   x + x == x,  x + y == y + x                  merging is idempotent and commutative
//
// Order: targets, tasks, machines, runs, each sorted; attempts by id; then waiting and foreign
// lines. An attempt that precedes its task, machine or run waits in the store until they are
// imported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "record/line.h"
#include "record/store.h"

namespace tilewright::record {

struct BadLine {
  int64_t number = 0;  // starts at 1
  std::string why;

  bool operator==(const BadLine&) const = default;
};

struct ImportReport {
  static constexpr size_t kMaxNamed = 20;

  int64_t lines = 0;     // not empty ones
  int64_t attempts = 0;  // new ones
  int64_t others = 0;    // new targets, tasks, machines and runs
  int64_t known = 0;     // already in the store
  int64_t variants = 0;  // contradict a known key: both are kept
  int64_t foreign = 0;   // new ones that are not understood, kept unchanged
  int64_t waiting = 0;   // new attempts without their task, machine or run
  int64_t arrived = 0;   // waiting attempts that became complete
  int64_t malformed = 0;
  std::vector<BadLine> named;  // the first malformed ones

  bool operator==(const ImportReport&) const = default;
};

// Opens a store, or returns the one that is open.
using OpenStore = std::function<Result<Store*>()>;
OpenStore opened(Store& store);  // `store` outlives it

// Uses transactions of many lines each; after an error, the earlier ones remain. `path` may be a
// pipe. The store is opened at the first line that is not malformed. A stop keeps the lines that
// were added; the report counts those.
Result<ImportReport> import_ndjson(const OpenStore& open, const std::filesystem::path& path,
                                   const StopToken& stop = {});
Result<ImportReport> import_ndjson(Store& store, const std::filesystem::path& path,
                                   const StopToken& stop = {});
Result<ImportReport> import_ndjson_text(Store& store, std::string_view text);

// Takes the next part of a text. Returns false to end the export.
using TextSink = std::function<bool(std::string_view text)>;

// Exports one consistent snapshot, even while others write. If the sink ends it, that is no error.
// The lines before an error of the store are exported.
Status export_ndjson(Store& store, const TextSink& write);
Status export_ndjson(Store& store, std::ostream& out, const StopToken& stop = {});

// Adds all of `from` to `into`, as if exported and imported. A stop keeps the lines that were
// added.
Result<ImportReport> merge(Store& into, Store& from, const StopToken& stop = {});

// Visits every line of the store in canonical order, as export writes them, until `visit` returns
// false.
Status for_each_line(Store& store, const std::function<bool(const Line&)>& visit);

}  // namespace tilewright::record
