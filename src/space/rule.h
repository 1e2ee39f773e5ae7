// Sketch rules: derive the structure of schedules from the Dag (Ansor, OSDI 2020, section 4.1). A
// rule inspects one stage of a draft and decides whether it applies. If so, it writes steps and
// holes for the stage and names the stage to visit next. The table is ordered; user-defined rules
// come before the built-in ones.
//
//   always_inline          stop       inlines elementwise producers
//   simplify_const_index   stop       unrolls axes with that hint (Winograd's transforms)
//   rfactor                continue   long reductions with few spatial iterations: two drafts
//   chain_nest             continue   reductions of reductions, all in one nest
//   row_nest               continue   reductions that are read row by row, computed in the reader
//   cache_write            continue   a separate stage for the tile that is computed
//   tile_and_fuse          either     tiles, computed inside the elementwise reader
//   tile                   stop       tiles
//   skip                   continue   nothing
//
// `continue`: later rules are tried for the same stage too; `stop`: they are not.
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

// The built-in rules for a target, in order. GPUs will have a separate list.
std::vector<SketchRule> sketch_rules(const Target& target);

}  // namespace tilewright::space
