// Chain: a tiled reduction that reads another one through stages of their own, as attention does,
// and so can be computed by blocks of rows that all of them have:
//
//   C[h, i, j], M[h, i], E[h, i, j], S[h, i], O[h, i, e], Y[i, h, e]
//     root Y   members O, S, E, M, C   shared i, h of Y   rows i
//
// Read off a tree in which what is to be inlined is inlined. A value.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "schedule/loop_tree.h"

namespace tilewright::heuristic {

struct Chain {
  schedule::StageIndex root = schedule::kNone;  // takes the last reduction element by element
  std::vector<schedule::StageIndex>
      members{};  // readers first; what depends on a tiled reduction, or is one
  std::vector<schedule::StageIndex> products{};  // of the members, the tiled reductions
  std::vector<int> shared{};                     // axes of the root that all members have
  int rows = -1;  // of these the longest along which operands of the products are used
                  // again; -1: there is none
  std::map<schedule::StageIndex, std::vector<int>> dims{};  // by member: its dimension of each
                                                            // axis of the root; -1: it has none
  int64_t row_bytes = 0;  // of the widest member, for one place in the shared axes

  int dim_of(schedule::StageIndex member, int axis) const {
    return axis < 0 ? -1 : dims.at(member)[static_cast<size_t>(axis)];
  }
};

// The chain that ends in `last`, a tiled reduction, and its reader; none where it does not read
// another one, or where they share no axes.
std::optional<Chain> find_chain(const schedule::LoopTree& tree, schedule::StageIndex root,
                                schedule::StageIndex last);

}  // namespace tilewright::heuristic
