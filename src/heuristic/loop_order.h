// The loop order of a stage: outer loops that reuse cached data, reduce loops inside them, and the
// register tile innermost.
//
//   C[i, j] += A[i, k] * B[k, j], tile i 8, j 32, lanes' axis outside
//     split C i [8]   split C j [32]   reorder C [j.0, i.0, k, i.1, j.1]      outer j.0, i.0
//
// Pure: returns steps without applying them.
#pragma once

#include <vector>

#include "heuristic/register_tile.h"
#include "schedule/trace.h"

namespace tilewright::heuristic {

struct LoopOrder {
  std::vector<schedule::Step> steps;  // splits, and a reorder of the resulting loops
  std::vector<Name> outer;            // spatial loops around the reduce loops
};

LoopOrder order_loops(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const AxisRoles& roles, const RegisterTile& tile);

}  // namespace tilewright::heuristic
