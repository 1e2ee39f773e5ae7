// Inverse transforms by constant matrices (constant_axes.h), computed tile by tile inside the stage
// that reads them: a tile is read while it is in the cache of the thread that computed it.
//
//   I[a, b, p, c] += A[ra, a] A[rb, b] M[ra, rb, p, c]      Y[y, x, c] = I[y mod 4, x mod 4, .., c]
//   for (y.0, x.0) in parallel:  for c.0:
//     unroll a, b, ra, rb:  vectorize c < 16     I of one tile
//     unroll y.1 < 4, x.1 < 4:  vectorize c.1 < 16     Y
#pragma once

#include <optional>
#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

// The only reader of a transform, elementwise, and the axes that select the elements of a tile.
struct TileReader {
  schedule::StageIndex stage = schedule::kNone;
  std::vector<int64_t> sides{};  // per axis: `axis mod side` is an index within the tile; or 0

  bool operator==(const TileReader&) const = default;
};

// Nothing if the stage is no such transform, or is read in another way.
std::optional<TileReader> tile_reader(const schedule::LoopTree& tree,
                                      schedule::StageIndex transform);

// False: nothing was done. Tiles that the image cuts off have separate code (peeled), which may
// get too large.
bool tile_with_reader(Tiling& tiling, schedule::StageIndex transform, const TileReader& reader);

}  // namespace tilewright::heuristic
