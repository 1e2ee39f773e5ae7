// The built-in sketch rules, one function per rule; space/rule.h has the table.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule always_inline_rule();
SketchRule simplify_const_index_rule();
SketchRule rfactor_rule();
SketchRule row_nest_rule();
SketchRule chain_nest_rule();
SketchRule cache_write_rule();
SketchRule tile_and_fuse_rule();
SketchRule tile_rule();
SketchRule skip_rule();

// The only stage that reads a stage elementwise, through inlined stages; empty if there is none, or
// if both are reductions.
StageName elementwise_reader(const SpaceContext& context, const Draft& draft, StageName stage);

// True if the stage should be tiled: its operator reuses elements, and no rule has written steps
// for it.
bool needs_tiles(const SpaceContext& context, StageName stage);

}  // namespace tilewright::space
