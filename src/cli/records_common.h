// Shared by the parts of `tilewright records` (cli/verb_records.cc): the flag --records, and texts
// of tasks and attempts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/record_files.h"
#include "app/records.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace tilewright::cli {

// `path` outlives the parsing.
void declare_records_flag(CLI::App& app, std::string* path);
// For verbs that only read the store and also work without one.
void declare_read_records_flag(CLI::App& app, std::string* path);
// An error if a store is named that does not exist, or has an empty name.
Status check_named_records(const CLI::App& app, const std::string& path);

// `threads=2`: what distinguishes the targets of one machine.
std::string short_target(const record::StoredTask& task);

std::string time_text(int64_t us);  // `2026-11-15 20:18:34`, UTC

// Appends the rejected lines of an import to the text, and returns them as JSON.
Json name_lines(std::span<const record::BadLine> lines, std::string* text);

}  // namespace tilewright::cli
