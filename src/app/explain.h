// explain: what became of a candidate and why: its verdict, its loop nest, the bytes it moves
// between the levels of memory (docs/explain.md), where it stands against what this machine can do,
// and what is likely to limit it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/records.h"
#include "app/target_choice.h"
#include "base/result.h"
#include "feature/limits.h"
#include "record/attempt.h"
#include "schedule/loop_tree.h"
#include "target/machine.h"

namespace tilewright::app {

struct ExplainOptions {
  std::string what{};        // the id of an attempt; with a trace an operator
  std::string trace_file{};  // a schedule without a record; empty: an attempt
  std::string records = kDefaultRecords;
  TargetChoice target{};  // with a trace
  double seconds = 0.4;   // to measure what this machine can do; 0: not
};

// What is known of a recorded attempt.
struct ExplainedAttempt {
  record::Attempt attempt;
  std::string machine;  // its brand, or empty when the store does not have it
  bool is_this_machine = false;
  std::string run;  // the command of its run, or empty
};

// What is known of a program: when its trace applies.
struct ExplainedProgram {
  std::string loops;  // LoopTree::to_string
  int64_t instructions = 0;
  feature::Traffic traffic;
  feature::NestFacts facts;
  std::vector<feature::Share> shares;  // empty without a time
  std::vector<std::string> limits;
  std::string levels_of;  // whose caches the levels are
};

struct Explanation {
  std::string what;    // of the workload
  std::string target;  // its text
  std::optional<ExplainedAttempt> attempt;
  std::optional<ExplainedProgram> program;
  std::string no_program;  // why there is none
  std::string no_peak;     // why shares have no ceilings, or empty
  feature::Ceilings ceilings;
};

Result<Explanation> explain(const ExplainOptions& options);

}  // namespace tilewright::app
