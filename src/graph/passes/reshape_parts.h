// Matches the dimensions of two shapes with the same number of elements: the smallest runs of
// dimensions with equal products.
//
//   [1, 128, 4, 3, 64] and [1, 128, 12, 64]    1 | 128 | 4 3 = 12 | 64
//   [4, 9] and [4, 1, 9]                       4 | nothing = 1 | 9
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::graph {

// Dimensions [from, from + count) of the first shape are [to, to + made) of the second.
struct ReshapePart {
  size_t from = 0, count = 0;
  size_t to = 0, made = 0;
};

std::vector<ReshapePart> reshape_parts(const std::vector<int64_t>& before,
                                       const std::vector<int64_t>& after);

}  // namespace tilewright::graph
