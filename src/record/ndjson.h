// Stores as text: one JSON object a line (record/line.h, docs/records.md). Nothing is lost on the
// way, and the text is canonical: equal contents give equal bytes, so
//
//   export(import(export(x))) == export(x)       the round trip is the identity
//   x + x == x,  x + y == y + x                  merging is idempotent and commutative
//
// Order: targets, tasks, machines, runs, each sorted; attempts by id; lines that wait or are
// foreign. An attempt that comes before its task, machine or run waits in the store until they
// come.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/line.h"
#include "record/store.h"

namespace tilewright::record {

struct BadLine {
  int64_t number = 0;  // from 1
  std::string why;

  bool operator==(const BadLine&) const = default;
};

struct ImportReport {
  static constexpr size_t kMostNamed = 20;

  int64_t lines = 0;     // that are not empty
  int64_t attempts = 0;  // new ones
  int64_t others = 0;    // new targets, tasks, machines and runs
  int64_t known = 0;     // were there already
  int64_t variants = 0;  // say something else of a key that was there: both are kept
  int64_t foreign = 0;   // not understood, carried; new ones
  int64_t waiting = 0;   // attempts without their task, machine or run; new ones
  int64_t arrived = 0;   // attempts that waited and are in their place now
  int64_t malformed = 0;
  std::vector<BadLine> named;  // the first of the malformed ones

  bool operator==(const ImportReport&) const = default;
};

// In transactions of many lines each: an error leaves those of before. `path` may be a pipe.
Result<ImportReport> import_ndjson(Store& store, const std::filesystem::path& path);
Result<ImportReport> import_ndjson_text(Store& store, std::string_view text);

// One consistent state, also while others write.
Status export_ndjson(Store& store, std::ostream& out);

// All of `from` into `into`, as if exported and imported.
Result<ImportReport> merge(Store& into, Store& from);

// Every line of the store in canonical order, as export writes them, until `visit` says false.
Status for_each_line(Store& store, const std::function<bool(const Line&)>& visit);

}  // namespace tilewright::record
