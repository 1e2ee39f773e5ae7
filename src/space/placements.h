// Placements: all ways to compute the members of a nest at root, inline, or at one of the loops of
// the nest. A stage is computed at the loop of its readers or further out. Pure functions.
//
//   Y[i, j] with loops i.0, i.1        S at i.1, M at i.0       legal
//                                      S at i.0, M at i.1       not: S reads M
#pragma once

#include <cstddef>
#include <vector>

namespace tilewright::space {

inline constexpr size_t kMaxPlacements = 300;
inline constexpr int kAtRoot = -1;
inline constexpr int kInlined = -2;
inline constexpr int kNestItself = -1;  // a reader that is a stage of the nest, not a member

// A stage that may be computed inside of a nest.
struct PlacedMember {
  std::vector<int> readers{};  // numbers of earlier members, or kNestItself
  bool may_inline = false;
  int outermost = kAtRoot;  // the outermost loop allowed: its producers are computed there
};

// Each placement has one entry per member: kAtRoot, kInlined, or a loop from 0 (outermost) to depth
// - 1. If there are more than kMaxPlacements, choices are dropped in this order: all loops but the
// outermost and the innermost; members at root one by one; all loops but the innermost.
std::vector<std::vector<int>> placements_of(const std::vector<PlacedMember>& members, int depth);

}  // namespace tilewright::space
