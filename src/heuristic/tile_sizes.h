// Arithmetic of tile sizes: divisors, small remainders, whole vectors, and the lists of sizes that
// the layouts of the search space offer. The default schedule and the search space
// (space/tile_domain.h) share this definition of a good size. Pure functions.
//
//   divisor_within(56, 7, 14) = 14    vector_tile(96, 16, 4) = 48    wastes_little(100, 32) = true
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "target/target.h"

namespace tilewright::heuristic {

// Ascending; takes O(sqrt(n)).
std::vector<int64_t> divisors_of(int64_t n);

// The largest divisor of `extent` in [low, high]. If there is none: as few tiles as with `high`, of
// about equal size, because a last tile of one row would wait for each of its sums. That size may
// be below `low`: divisor_within(29, 12, 14) = 10.
int64_t divisor_within(int64_t extent, int64_t low, int64_t high);

// The numbers of a list, up to `limit`.
std::span<const int64_t> powers_of_two(int64_t limit);  // 1, 2, 4, ..., 256
// 1, 2, 3, 4, 6, 8, 12, 16, 32, 64: tiles per block, or rows of a block that is not in registers.
std::span<const int64_t> block_sizes(int64_t limit);
// 1, 2, 3, 4, 6, 8, 12, 14, 16: rows of a register tile. Two vectors in each of 14 rows leave four
// of 32 registers to operands.
std::span<const int64_t> register_rows(int64_t limit);

// True if tiles of this size add at most 30 % of iterations to an axis that they do not divide. For
// nested tiles, whose remainders add up.
bool wastes_little(int64_t extent, int64_t size);

// True if an axis may have tiles of this size: they divide it or, with tails, leave a remainder
// after at least `whole` tiles, so that little time is spent in the code of the remainder. `whole`
// 0: any remainder.
inline constexpr int64_t kTilesBeforeRemainder = 4;
bool may_tile(int64_t extent, int64_t size, bool tails, int64_t whole = kTilesBeforeRemainder);

// Up to `vectors` vectors: a number that divides the axis, if there is one above half of `vectors`;
// the whole axis if it is shorter.
int64_t vector_tile(int64_t extent, int lanes, int vectors);

// Vectors of accumulators that a register tile may have; a few registers are left for operands.
int64_t sums_in_registers(const Target& target);

}  // namespace tilewright::heuristic
