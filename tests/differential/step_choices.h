// The steps to try on a schedule: all kinds of steps, on all stages and loops, with at most two
// values for every other field.
#pragma once

#include <vector>

#include "schedule/loop_tree.h"
#include "schedule/step.h"

namespace tilewright::testing {

// `tree` needs structure only, no numbers. Some of the steps are illegal.
std::vector<schedule::Step> step_choices(const schedule::LoopTree& tree);

}  // namespace tilewright::testing
