// The order of a stage's loops: outer loops that reuse what is in cache, reductions inside of them,
// and the register tile innermost.
//
//   C[i, j] += A[i, k] * B[k, j], tile i 8, j 32, lanes' axis outside
//     split C i [8]   split C j [32]   reorder C [j.0, i.0, k, i.1, j.1]      outer j.0, i.0
//
// Pure: steps are made, not taken.
#pragma once

#include <vector>

#include "heuristic/register_tile.h"
#include "schedule/trace.h"

namespace tilewright::heuristic {

struct LoopOrder {
  std::vector<schedule::Step> steps;  // splits, and a reorder of what they leave
  std::vector<Name> outer;            // spatial loops around the reductions
};

LoopOrder order_loops(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const AxisRoles& roles, const RegisterTile& tile);

}  // namespace tilewright::heuristic
