// The built-in sketch rules, one a function; space/rule.h has the table.
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

// The one stage that takes a stage element by element, through what is inlined; an empty name when
// there is none, or when both reduce.
StageName elementwise_reader(const SpaceContext& context, const Draft& draft, StageName stage);

// The stage has tiles: its operator's elements are used again, and nobody has begun with it.
bool needs_tiles(const SpaceContext& context, StageName stage);

}  // namespace tilewright::space
