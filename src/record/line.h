// Line: one object of a store in the form in which stores exchange it, and its JSON text. Each text
// is one line, an object with "type" and "v" (the version of the format) first; see
// docs/records.md. Values. record/print_line.h writes them, record/parse_line.h reads them.
//
// Unknown members are kept as text in `extra`: an object with sorted members, or empty. Lines of
// other types, of a newer version, or with unknown words (a verdict, a protocol) are a ForeignLine,
// which is kept unchanged.
#pragma once

#include <string>
#include <variant>

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

}  // namespace tilewright::record
