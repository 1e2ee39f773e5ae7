// Arithmetic of tile sizes: divisors, small remainders, whole vectors. The default schedule and the
// search space (space/tile_domain.h) share this definition of a good size. Pure functions.
//
//   divisor_within(56, 7, 14) = 14    vector_tile(96, 16, 4) = 48    wastes_little(100, 32) = true
#pragma once

#include <cstdint>
#include <vector>

#include "target/target.h"

namespace tilewright::heuristic {

// Ascending; takes O(sqrt(n)).
std::vector<int64_t> divisors_of(int64_t n);

// The largest divisor of `extent` in [low, high], or else `high`.
int64_t divisor_within(int64_t extent, int64_t low, int64_t high);

// True if tiles of this size add at most 30 % of iterations to an axis that they do not divide.
bool wastes_little(int64_t extent, int64_t size);

// Up to `vectors` vectors: a number that divides the axis, if there is one above half of `vectors`;
// the whole axis if it is shorter.
int64_t vector_tile(int64_t extent, int lanes, int vectors);

// Vectors of accumulators that a register tile may have; a few registers are left for operands.
int64_t sums_in_registers(const Target& target);

}  // namespace tilewright::heuristic
