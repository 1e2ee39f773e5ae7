// The table of sketch rules (space/rule.h), in the order in which they are tried:
//
//   always_inline          skip_the_rest   elementwise producers
//   simplify_const_index   skip_the_rest   the hint of Winograd's transforms
//   rfactor                and others too  long reductions with few results: two drafts
//   chain_nest             and others too  reductions of reductions, all in one nest
//   row_nest               and others too  reductions that are read row by row, computed there
//   cache_write            and others too  a separate stage for the computed tile
//   tile_and_fuse          ...             tiles, computed inside of the elementwise reader
//   tile                   skip_the_rest   tiles
//   skip                   and others too  nothing
#pragma once

#include <vector>

#include "space/rule.h"

namespace tilewright::space {

// The built-in rules for a target, in order. Those for GPUs will be another list.
std::vector<SketchRule> sketch_rules(const Target& target);

}  // namespace tilewright::space
