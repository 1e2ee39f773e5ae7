// Which dimensions of one shape are which of another with as many elements: the smallest runs that
// hold the same elements.
//
//   [1, 128, 4, 3, 64] and [1, 128, 12, 64]    1 | 128 | 4 3 = 12 | 64
//   [4, 9] and [4, 1, 9]                       4 | nothing = 1 | 9
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::graph {

// Dimensions [from, from + count) of the one shape are [to, to + made) of the other.
struct ReshapePart {
  size_t from = 0, count = 0;
  size_t to = 0, made = 0;
};

std::vector<ReshapePart> reshape_parts(const std::vector<int64_t>& before,
                                       const std::vector<int64_t>& after);

}  // namespace tilewright::graph
