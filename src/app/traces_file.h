// Reads a file of traces (MeasureOptions::traces). There are two forms, distinguished by the
// first character that is not a space:
//
//   text     the text form of traces, separated by lines that are exactly `---`
//   NDJSON   the JSON form, one array per line (a single array may span lines)
//
// In the text form, a section with only blank lines is not a trace; a section with only comments is
// the empty schedule. Pure functions; errors name the file, the trace and the line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/trace.h"

namespace tilewright::app {

// In the order of the file; at least one.
Result<std::vector<schedule::Trace>> parse_traces(std::string_view text);
Result<std::vector<schedule::Trace>> read_traces_file(const std::filesystem::path& path);

// A file of one trace in either form, of at most 16 MiB. A blank file is the empty schedule.
Result<schedule::Trace> read_trace_file(const std::filesystem::path& path);

}  // namespace tilewright::app
