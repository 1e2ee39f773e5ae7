// NextTile: the tile of a `prefetch_next` step: the elements that an access reads while a loop
// outside the request is fixed. That loop is the innermost one on which the elements depend; reduce
// loops directly around the request are part of the tile.
//
//   for j.0: for i.0: for r: for k: ... B[r, k, j] ...    at k: selector j.0, inner i.0, r, k
#pragma once

#include <optional>

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

struct NextTile {
  StageIndex stage = kNone;  // of the loop that selects the tile
  VarIndex loop = kNone;
  VarIndex selector = kNone;  // that loop; if it is a fusion, the member that selects the tile
  // The variables inside the selector, down to the loop of the request, outermost first. The tile
  // is in use during their iterations.
  InlineVector<VarIndex, 2 * kMaxLoops> inner{};

  int64_t iterations(const LoopTree& tree) const;
};

// Empty if no loop selects the tile, or the elements are not known (a data-dependent index).
std::optional<NextTile> next_tile(const LoopTree& tree, const PrefetchRequest& request,
                                  const Access& access);

}  // namespace tilewright::schedule
