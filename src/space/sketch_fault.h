// What is wrong with a sketch that a user gave: a hole that names steps which are not there,
// choices that do not fit the steps, two holes that fill the same site. A sketch without a fault
// can be filled by every genome; whether the schedule is legal is for schedule/apply to decide. A
// pure function.
//
//   split C i [4]   holes 0 and 1 both fill its factors   ->   "holes 0 and 1 fill the same step 0"
#pragma once

#include <string>

#include "schedule/sketch.h"

namespace tilewright::space {

// One sentence without a full stop; empty: nothing is wrong.
std::string fault_of(const schedule::Sketch& sketch);

}  // namespace tilewright::space
