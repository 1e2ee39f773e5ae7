// The buffers of a nest: what each stage writes, in the digits of its layout, and where it lives.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "layout/layout.h"
#include "schedule/loop_tree.h"
#include "task/workload.h"

namespace tilewright::lower {

// Declares the buffers of `tree`, buffer k as k, and the arguments of the function. Returns their
// layouts.
std::vector<layout::Layout> declare_buffers(const Workload& workload,
                                            const schedule::LoopTree& tree, ir::Function* function);

// Accumulators of their own for a reduction whose outermost reduce loop is at `position`: one
// dimension a spatial loop inside of it. The first of them; one for each buffer of the stage.
ir::BufferId declare_accumulators(const schedule::LoopTree& tree, const schedule::Stage& stage,
                                  size_t position, ir::Function* function);

}  // namespace tilewright::lower
