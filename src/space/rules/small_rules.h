// Short rules: always_inline, simplify_const_index, cache_write, skip.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule always_inline_rule();
SketchRule simplify_const_index_rule();
SketchRule cache_write_rule();
SketchRule skip_rule();

}  // namespace tilewright::space
