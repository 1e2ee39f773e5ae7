// explain: converts an Illegal to a message, which says what is wrong with a step, where, why, and
// what would be legal there. Built on demand, since rejecting a candidate costs no string.
//
//   illegal step 1 `split C x [2]`: C has no loop x; its loops are i, j, k
#pragma once

#include <string>

#include "schedule/illegal.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// `illegal` is what apply(initial, trace, ...) returned.
std::string explain(const LoopTree& initial, const Trace& trace, const Illegal& illegal);

}  // namespace tilewright::schedule
