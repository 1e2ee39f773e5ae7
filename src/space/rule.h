// Sketch rules: how structures of schedules are derived from what is computed (Ansor, OSDI 2020,
// section 4.1). A rule has a condition on one stage of a draft. If it applies, it writes steps and
// holes for that stage and names the stage to visit next. The table (space/sketch_rules.h) is
// ordered; custom rules come before the built-in ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "space/draft.h"

namespace tilewright::space {

enum class Applies : uint8_t {
  No,
  Yes,          // later rules are tried as well
  SkipTheRest,  // later rules are not tried
};

// A draft that a rule produced, and the stage to visit next.
struct NextDraft {
  Draft draft;
  StageName stage;  // the same stage, a stage created by the rule, or `previous_stage`
};

struct SketchRule {
  std::string name;
  std::string what;  // one-line description
  std::function<Applies(const SpaceContext&, const Draft&, StageName)> applies;
  std::function<std::vector<NextDraft>(const SpaceContext&, const Draft&, StageName)> apply;
};

}  // namespace tilewright::space
