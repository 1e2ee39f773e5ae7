// What `tilewright explain` says, as text for people and as one JSON object. Everything is given;
// nothing is measured here. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "feature/limits.h"
#include "record/attempt.h"
#include "schedule/loop_tree.h"
#include "target/machine.h"

namespace tilewright::cli {

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

std::string explanation_text(const Explanation& explanation);
Json explanation_json(const Explanation& explanation);

// What a verdict of that kind means, and what one can do.
std::string_view advice_on(record::VerdictKind kind);

}  // namespace tilewright::cli
