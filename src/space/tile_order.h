// The two orders that the choices of a TileDomain may have: by their first factor, as tile_domain
// makes them (space/tile_domain.h), or by their last. A choice is found by binary search, so that
// one of them is required of sketches (space/sketch_fault.h). Pure functions.
//
//   by the first factor   [1, 1] [1, 2] [2, 1]
//   by the last           [1, 1] [2, 1] [1, 2]
#pragma once

#include <algorithm>
#include <ranges>

#include "schedule/sketch.h"

namespace tilewright::space {

inline bool lower_by_first(const schedule::Factors& a, const schedule::Factors& b) {
  return std::ranges::lexicographical_compare(a, b);
}
inline bool lower_by_last(const schedule::Factors& a, const schedule::Factors& b) {
  return std::ranges::lexicographical_compare(a | std::views::reverse, b | std::views::reverse);
}

// True if the choices are distinct and in one of the two orders.
bool has_order(const schedule::TileDomain& domain);

}  // namespace tilewright::space
