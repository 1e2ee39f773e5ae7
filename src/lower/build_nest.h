// build_nest: LoopTree -> loop IR. The only place where structure becomes statements: loops with
// stages nested at their attachment points, reductions with their initialization, splits with a
// remainder with their last iteration peeled, indices in the dimensions of each buffer's layout.
//
//   C: for i.0 < 3, k < 8, i.1 < 4 (i = i.0*4 + i.1 < 10)        ->
//
//   for i.0 < 3:
//     if i.0 < 2:                                  the full tiles: no guard inside
//       for i.1 < 4: C[i.0*4 + i.1] = 0
//       for k < 8:
//         for i.1 < 4: C[i.0*4 + i.1] = C[i.0*4 + i.1] + ...
//     else:                                        the last tile: two rows are left
//       for i.1 < 2: ...
#pragma once

#include "ir/stmt.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::lower {

// Maps a loop of the tree to its IR variable, for tests that compare regions with touched elements:
// one entry per copy of the loop.
struct LoopBinding {
  schedule::VarIndex loop;
  ir::VarId var;
};

// `tree` is the result of applying `trace`. The arguments of the function are the workload's
// operands in order; packed constants have their packed shape.
ir::Function build_nest(const Workload& workload, const Target& target,
                        const schedule::LoopTree& tree, const schedule::Trace& trace,
                        std::vector<LoopBinding>* bindings = nullptr);

}  // namespace tilewright::lower
