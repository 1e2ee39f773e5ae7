// chain_nest: attention and the like. A tiled reduction that reads another one through stages of
// their own, all of them in one nest by blocks of rows (heuristic/chain_plan.h).
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule chain_nest_rule();

}  // namespace tilewright::space
