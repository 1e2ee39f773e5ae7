// explain: reports on a candidate: its verdict, its loop nest, the bytes it moves between memory
// levels (docs/explain.md), its position relative to the ceilings of this machine, and the likely
// limit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/explained_program.h"
#include "app/records.h"
#include "app/target_choice.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "record/attempt.h"

namespace tilewright::app {

struct ExplainOptions {
  std::string what{};        // id of an attempt; with trace_file: an operator
  std::string trace_file{};  // a schedule without a record; empty: explain an attempt
  std::string records = kDefaultRecords;
  TargetChoice target{};  // used with trace_file
  double seconds = 0.4;   // time for measuring the ceilings of this machine; 0: skip
};

// The recorded attempt.
struct ExplainedAttempt {
  record::Attempt attempt;
  std::string_view verdict;  // name of its kind
  std::string protocol;      // its text
  std::string machine;       // processor name; empty if the store does not have it
  bool is_this_machine = false;
  std::string run;  // command of its run; may be empty
};

struct Explanation {
  std::string what;    // text of the workload
  std::string target;  // its text
  std::optional<ExplainedAttempt> attempt;
  std::optional<ExplainedProgram> program;
  std::string no_program;  // why `program` is empty
  std::string no_peak;     // why shares have no ceilings; may be empty
  feature::Ceilings ceilings;
};

// A stop ends the measurement of the ceilings, which are then unknown.
Result<Explanation> explain(const ExplainOptions& options, const StopToken& stop = {});

}  // namespace tilewright::app
