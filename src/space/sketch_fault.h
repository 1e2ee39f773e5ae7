// Checks a sketch that a caller passes in. Faults are: a hole that names missing steps, choices
// that do not fit the steps, tile sizes without an order (space/tile_order.h), two holes that fill
// the same site. Every genome can fill a sketch without a fault; schedule/apply decides whether the
// resulting schedule is legal. A pure function.
//
//   split C i [4]   holes 0 and 1 both fill its factors   ->   "holes 0 and 1 fill the same step 0"
#pragma once

#include <string>

#include "schedule/sketch.h"

namespace tilewright::space {

// One sentence without a full stop; empty: nothing is wrong.
std::string fault_of(const schedule::Sketch& sketch);

}  // namespace tilewright::space
