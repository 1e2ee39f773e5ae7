#include "app/traces_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "base/json.h"

namespace tilewright::app {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;
constexpr int64_t kMaxBytesOfOne = int64_t{16} << 20;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Removes and returns the next line of `text`, without its end.
std::string_view take_line(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::unexpected<Error> bad_trace(size_t trace, const std::string& message) {
  return fail(ErrorKind::BadInput, fmt::format("trace {}: {}", trace, message));
}

// One part of the text form; `lines_before` precede it in the file.
Status add_text(std::string_view part, size_t lines_before, std::vector<schedule::Trace>* traces) {
  if (is_blank(part)) return {};
  Result<schedule::Trace> trace = schedule::trace_from_text(part);
  if (!trace) {  // again, with the lines of the file
    trace = schedule::trace_from_text(std::string(lines_before, '\n').append(part));
    return bad_trace(traces->size(), trace.error().message);
  }
  traces->push_back(std::move(*trace));
  return {};
}

Result<std::vector<schedule::Trace>> parse_text(std::string_view text) {
  std::vector<schedule::Trace> traces;
  std::string_view rest = text;
  size_t begin = 0;
  size_t lines_before = 0;
  for (size_t line_number = 0; !rest.empty(); ++line_number) {
    const size_t line_begin = text.size() - rest.size();
    if (take_line(&rest) != "---") continue;
    TRY(add_text(text.substr(begin, line_begin - begin), lines_before, &traces));
    begin = text.size() - rest.size();
    lines_before = line_number + 1;
  }
  TRY(add_text(text.substr(begin), lines_before, &traces));
  return traces;
}

Status add_json(std::string_view text, size_t line, std::vector<schedule::Trace>* traces) {
  const Result<Json> json = parse_json(text);
  Result<schedule::Trace> trace = fail(ErrorKind::BadInput, "");
  if (!json) {
    trace = fail(ErrorKind::BadInput, json.error().message);
  } else {
    trace = schedule::trace_from_json(*json);
  }
  if (!trace) {
    return bad_trace(traces->size(), fmt::format("line {}: {}", line, trace.error().message));
  }
  traces->push_back(std::move(*trace));
  return {};
}

Result<std::vector<schedule::Trace>> parse_ndjson(std::string_view text) {
  std::vector<schedule::Trace> traces;
  std::string_view rest = text;
  for (size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::string_view line = take_line(&rest);
    if (is_blank(line)) continue;
    const Status status = add_json(line, line_number, &traces);
    if (status) continue;
    // An array over several lines: the file is that single trace.
    if (traces.empty() && add_json(text, line_number, &traces)) return traces;
    return std::unexpected(status.error());
  }
  return traces;
}

}  // namespace

Result<std::vector<schedule::Trace>> parse_traces(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '[';
  Result<std::vector<schedule::Trace>> traces = json ? parse_ndjson(text) : parse_text(text);
  if (traces && traces->empty()) return fail(ErrorKind::BadInput, "there is no trace in it");
  return traces;
}

namespace {

// Errors name the file.
Result<std::vector<schedule::Trace>> parse_file(const std::filesystem::path& path,
                                                std::string_view text) {
  Result<std::vector<schedule::Trace>> traces = parse_traces(text);
  if (!traces) {
    return fail(ErrorKind::BadInput, fmt::format("{}: {}", path.string(), traces.error().message));
  }
  return traces;
}

}  // namespace

Result<std::vector<schedule::Trace>> read_traces_file(const std::filesystem::path& path) {
  const std::string text = TRY(read_file(path, kMaxBytes));
  return parse_file(path, text);
}

Result<schedule::Trace> read_trace_file(const std::filesystem::path& path) {
  const std::string text = TRY(read_file(path, kMaxBytesOfOne));
  if (is_blank(text)) return schedule::Trace{};
  std::vector<schedule::Trace> traces = TRY(parse_file(path, text));
  if (traces.size() == 1) return std::move(traces.front());
  return fail(ErrorKind::BadInput,
              fmt::format("{}: it has {} traces, and one is needed", path.string(), traces.size()));
}

}  // namespace tilewright::app
