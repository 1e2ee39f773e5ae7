// The buffers of a loop nest: the results of each stage, in the digits of its layout, and their
// memory.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "layout/layout.h"
#include "schedule/loop_tree.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::lower {

// Declares the buffers of `tree`, with the same numbers, and the arguments of the function. Returns
// their layouts.
std::vector<layout::Layout> declare_buffers(const Workload& workload, const Target& target,
                                            const schedule::LoopTree& tree, ir::Function* function);

// Declares separate accumulators for a reduction whose outermost reduce loop is at `position`: one
// dimension per spatial loop inside it. Returns the first of them; there is one per buffer of the
// stage.
ir::BufferId declare_accumulators(const Target& target, const schedule::LoopTree& tree,
                                  const schedule::Stage& stage, size_t position,
                                  ir::Function* function);

}  // namespace tilewright::lower
