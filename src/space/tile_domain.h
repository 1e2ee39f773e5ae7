// Tile domains: which sizes (heuristic/tile_sizes.h) an axis may be cut into. Exact factorizations,
// as Ansor has them, and, where tails are wanted, sizes that do not divide but leave little over.
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/sketch.h"

namespace tilewright::space {

inline constexpr size_t kMaxTileChoices = 4096;

struct TileConstraints {
  int64_t extent = 1;
  int factors = 1;             // levels inside of the outermost
  int64_t max_innermost = 64;  // largest innermost factor
  bool tails = false;          // sizes that do not divide too
  int64_t lanes = 0;           // not 0: the innermost is whole vectors, or the whole axis
  int64_t run = 0;             // not 0: the innermost divides this
};

// Sorted, distinct, at least one choice and at most kMaxTileChoices.
schedule::TileDomain tile_domain(const TileConstraints& wish);

// Leaves every so many of the choices where there are more than kMaxTileChoices.
void keep_some(schedule::TileDomain* domain);

// Some choice does not divide the extent.
bool leaves_remainder(const schedule::TileDomain& domain);

}  // namespace tilewright::space
