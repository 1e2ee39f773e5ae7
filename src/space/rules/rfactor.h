// rfactor: long reductions beside little space are folded in parts. Two drafts: the outer part of a
// reduce axis is factored, so that threads share it, or the inner part of one, for lanes.
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule rfactor_rule();

}  // namespace tilewright::space
