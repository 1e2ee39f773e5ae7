// chain_nest: a tiled reduction that reads another one through intermediate stages, as in
// attention, is computed with all of them in one nest, by blocks of rows (heuristic/chain_plan.h).
#pragma once

#include "space/rule.h"

namespace tilewright::space {

SketchRule chain_nest_rule();

}  // namespace tilewright::space
