// What the parts of `tilewright records` share (cli/verb_records.cc): the flag --records, and how a
// user names tasks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "record/ndjson.h"
#include "record/store.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

inline constexpr const char* kDefaultRecords = "tilewright.db";

inline constexpr const char* kNoRecords = "none";  // of verbs that read: without a store

// `path` outlives the parsing.
void declare_records_flag(CLI::App& app, std::string* path);
// Of verbs that only read it and can do without.
void declare_read_records_flag(CLI::App& app, std::string* path);
// An error where a store was named that does not exist.
Status check_named_records(const CLI::App& app, const std::string& path);

// The store for reading; nothing where there is no such file: then nothing was tuned.
Result<std::optional<record::Store>> open_records(const std::string& path);

// The stored tasks that a text means: an operator or a name of the suite (for every target it was
// measured for), or the beginning of a task's key. At least one, or an error.
Result<std::vector<record::StoredTask>> find_tasks(record::Store& store, std::string_view what);

// FLOP of a task, 0 when its text means something else to this program.
double flop_of(const record::StoredTask& task);

// `threads=2`: what tells apart the targets of one machine.
std::string short_target(const record::StoredTask& task);

std::string time_text(int64_t us);  // `2026-11-15 20:18:34`, UTC

Json task_json(const record::StoredTask& task);
Json attempt_json(const record::Attempt& attempt);  // as `records export` writes it

// Lines of an import that were left out: added to the text, and as JSON.
Json name_lines(std::span<const record::BadLine> lines, std::string* text);

}  // namespace tilewright::cli
