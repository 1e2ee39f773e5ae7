// Line: one thing that a store holds, as it travels between stores, and its JSON text. Each text is
// one line, an object with "type" and "v" (the version of the format) first; see docs/records.md.
// Values. print_line(parse_line(print_line(x))) == print_line(x), byte by byte.
//
// Members that this version does not know are kept as text in `extra`: an object, its members
// sorted, or empty. Lines of other types, of a newer version, or with words that this version does
// not know (a verdict, a protocol) are a ForeignLine: kept as they are.
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
  std::string content;  // the members besides, as an object: machine_to_json

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

// Numbers are finite and times not negative, `extra` is as parse_line makes it: what can be written
// and read back.
Status check_attempt(const Attempt& attempt);

std::string print_permissions(const FloatPermissions& permissions);  // `reassociate,contract`
Result<FloatPermissions> parse_permissions(std::string_view text);

// Reads lines; keeps its buffers between them. Not to be shared between threads.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // At least kPadding bytes of memory lie behind the line, whatever they hold. An error says what
  // is wrong with it. Memory of an Attempt in `out` is used again.
  static constexpr size_t kPadding = 64;
  Status parse(std::string_view line, Line* out);
  const Hash128& attempt_id() const;  // of the attempt that was parsed last

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Result<Line> parse_line(std::string_view line);  // of any memory

}  // namespace tilewright::record
