// Trace: a schedule as a sequence of steps. It fully determines the program. A value with a text
// form (one step per line, `#` comments) and a JSON form (an array); both round-trip exactly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "schedule/step.h"

namespace tilewright::schedule {

inline constexpr size_t kMaxSteps = 2000;

struct Trace {
  std::vector<Step> steps;  // up to kMaxSteps

  bool operator==(const Trace&) const = default;
};

std::string to_text(const Step& step);
std::string to_text(const Trace& trace);
Json to_json(const Trace& trace);

// Errors name the line (or element), the problem and what was expected.
Result<Trace> trace_from_text(std::string_view text);
Result<Trace> trace_from_json(const Json& json);

}  // namespace tilewright::schedule
