// Sketch rules: how structures of schedules are derived from what is computed (Ansor, OSDI 2020,
// section 4.1). A rule looks at one stage of a draft and says whether it applies; then it writes
// steps and holes for that stage and says with which stage to go on. The table is ordered; rules of
// the user come before the built-in ones.
//
//   always_inline          skip_the_rest   elementwise producers
//   simplify_const_index   skip_the_rest   the hint of Winograd's transforms
//   rfactor                and others too  long reductions beside little space: two drafts
//   chain_nest             and others too  reductions of reductions, all in one nest
//   row_nest               and others too  reductions that are read row by row, computed there
//   cache_write            and others too  a stage of its own for the tile that is computed
//   tile_and_fuse          ...             tiles, computed inside of the elementwise reader
//   tile                   skip_the_rest   tiles
//   skip                   and others too  nothing
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

// A draft that a rule made, and the stage to look at next.
struct NextDraft {
  Draft draft;
  StageName stage;  // the one that was looked at, one that the rule made, or `previous_stage`
};

struct SketchRule {
  std::string name;
  std::string what;  // one line for people
  std::function<Applies(const SpaceContext&, const Draft&, StageName)> applies;
  std::function<std::vector<NextDraft>(const SpaceContext&, const Draft&, StageName)> apply;
};

// The built-in rules for a target, in order. Those for GPUs will be another list.
std::vector<SketchRule> sketch_rules(const Target& target);

}  // namespace tilewright::space
