// Tile domains: the tile sizes (heuristic/tile_sizes.h) that an axis may have. They are exact
// factorizations, as in Ansor, and, with tails, also sizes that do not divide but leave a small
// remainder. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/sketch.h"

namespace tilewright::space {

inline constexpr size_t kMaxTileChoices = 4096;

struct TileConstraints {
  int64_t extent = 1;
  int factors = 1;             // levels inside the outermost one
  int64_t max_innermost = 64;  // largest innermost factor
  bool tails = false;          // also sizes that do not divide
  // If not 0: the innermost factor is a number of whole vectors, or the whole axis.
  int64_t lanes = 0;
  int64_t run = 0;  // if not 0: the innermost factor divides this
};

// Sorted, distinct, at least one choice and at most kMaxTileChoices.
schedule::TileDomain tile_domain(const TileConstraints& constraints);

// Keeps every n-th choice, so that at most kMaxTileChoices are left.
void keep_some(schedule::TileDomain* domain);

// True if some choice does not divide the extent.
bool leaves_remainder(const schedule::TileDomain& domain);

}  // namespace tilewright::space
