// Chain: a tiled reduction that reads another tiled reduction through intermediate stages, as in
// attention. All of them can be computed by blocks of rows that they share:
//
//   C[h, i, j], M[h, i], E[h, i, j], S[h, i], O[h, i, e], Y[i, h, e]
//     root Y   members O, S, E, M, C   shared i, h of Y   rows i
//
// Derived from a tree after inlining. A value.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "schedule/loop_tree.h"

namespace tilewright::heuristic {

struct Chain {
  schedule::StageIndex root = schedule::kNone;  // reads the last reduction elementwise
  std::vector<schedule::StageIndex>
      members{};  // readers first; the tiled reductions and the stages that depend on one
  std::vector<schedule::StageIndex> products{};  // the tiled reductions among the members
  std::vector<int> shared{};                     // axes of the root that all members have
  int rows = -1;  // the longest of these along which operands of the products are reused; -1: none
  // Per member: its dimension for each axis of the root; -1: none.
  std::map<schedule::StageIndex, std::vector<int>> dims{};
  int64_t row_bytes = 0;  // of the widest member, per point of the shared axes

  int dim_of(schedule::StageIndex member, int axis) const {
    return axis < 0 ? -1 : dims.at(member)[static_cast<size_t>(axis)];
  }
};

// The chain that ends in the tiled reduction `last` and its reader. Empty if `last` does not read
// another tiled reduction, or if they share no axes.
std::optional<Chain> find_chain(const schedule::LoopTree& tree, schedule::StageIndex root,
                                schedule::StageIndex last);

}  // namespace tilewright::heuristic
