// All steps that can be tried on a state of a schedule, of every kind and over all stages and loops
// that there are, with at most two values for every other field.
#pragma once

#include <vector>

#include "schedule/loop_tree.h"
#include "schedule/step.h"

namespace tilewright::testing {

// `tree` needs structure only, no numbers. Some of the steps are illegal.
std::vector<schedule::Step> step_choices(const schedule::LoopTree& tree);

}  // namespace tilewright::testing
