// NextTile: the tile that a `prefetch_next` step refers to: what an access reads while a loop outside
// the request is fixed. It is the innermost loop outside on which the elements depend.
//
//   for j.0: for i.0: for k.0: ... B[k, j] ...     requested at k.0: selector j.0, inner i.0, k.0
#pragma once

#include <optional>

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

struct NextTile {
  StageIndex stage = kNone;    // of the loop that selects the tile
  VarIndex loop = kNone;
  VarIndex selector = kNone;   // that loop; if it is a fusion, the member that selects the tile
  // The variables inside the selector, down to the loop of the request, outermost first. In their
  // iterations together, the tile is used.
  InlineVector<VarIndex, 2 * kMaxLoops> inner{};

  int64_t iterations(const LoopTree& tree) const;
};

// Empty if no loop selects the tile, or the elements are not known (a data-dependent index).
std::optional<NextTile> next_tile(const LoopTree& tree, const PrefetchRequest& request,
                                  const Access& access);

}  // namespace tilewright::schedule
