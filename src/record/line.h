// Line: one object of a store in the exchange format, and its JSON text. Each text is one line: an
// object that starts with "type" and "v" (the version of the format); see docs/records.md. Values.
// print_line(parse_line(print_line(x))) == print_line(x), byte by byte.
//
// Unknown members are kept as text in `extra`: an object with sorted members, or empty. Lines of
// other types, of a newer version, or with unknown words (a verdict, a protocol) are a ForeignLine,
// which is kept unchanged.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "record/attempt.h"
#include "record/store.h"

namespace tilewright::record {

inline constexpr int64_t kLineVersion = 1;

struct TargetLine {
  std::string text;
  std::string extra;

  bool operator==(const TargetLine&) const = default;
};
struct TaskLine {
  StoredTask task;
  std::string extra;

  bool operator==(const TaskLine&) const = default;
};
struct MachineLine {
  Hash128 id;
  std::string content;  // the other members as an object, as written by machine_to_json

  bool operator==(const MachineLine&) const = default;
};
struct RunLine {
  Run run;
  std::string extra;

  bool operator==(const RunLine&) const = default;
};
struct TrajectoryLine {
  Hash128 key;
  Hash128 run;
  CompletedBudget completed;
  std::string extra;

  bool operator==(const TrajectoryLine&) const = default;
};
struct ForeignLine {
  std::string text;

  bool operator==(const ForeignLine&) const = default;
};

using Line =
    std::variant<TargetLine, TaskLine, MachineLine, RunLine, TrajectoryLine, Attempt, ForeignLine>;

// Without a newline.
std::string print_line(const Line& line);
void print_attempt(const Attempt& attempt, std::string* out);   // appends
void print_json_text(std::string_view text, std::string* out);  // appends a JSON string

// Checks that the attempt can be written and read back: numbers are finite, times not negative,
// `extra` as parse_line produces it.
Status check_attempt(const Attempt& attempt);

std::string print_permissions(const FloatPermissions& permissions);  // `reassociate,contract`
Result<FloatPermissions> parse_permissions(std::string_view text);

// Parses lines and reuses its buffers between them. Not thread-safe.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // At least kPadding readable bytes must follow the line. An error describes the problem. The
  // memory of an Attempt in `out` is reused.
  static constexpr size_t kPadding = 64;
  Status parse(std::string_view line, Line* out);
  const Hash128& attempt_id() const;  // of the last parsed attempt

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Result<Line> parse_line(std::string_view line);  // needs no padding

}  // namespace tilewright::record
