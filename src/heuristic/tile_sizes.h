// Sizes of tiles, as numbers: what divides an extent, what leaves little over, what is whole
// vectors. The one notion of a good size that the default schedule and the space of candidates
// (space/tile_domain.h) share. Pure functions.
//
//   divisor_within(56, 7, 14) = 14    vector_tile(96, 16, 4) = 48    wastes_little(100, 32) = true
#pragma once

#include <cstdint>
#include <vector>

#include "target/target.h"

namespace tilewright::heuristic {

// In ascending order; takes about as long as the root of `n`.
std::vector<int64_t> divisors_of(int64_t n);

// The largest divisor of `extent` in [low, high], else `high`.
int64_t divisor_within(int64_t extent, int64_t low, int64_t high);

// Tiles of this size add at most three tenths to an axis that they do not divide.
bool wastes_little(int64_t extent, int64_t size);

// Up to `vectors` vectors, as many as divide the axis if some number above half of them does; the
// whole axis where it is shorter.
int64_t vector_tile(int64_t extent, int lanes, int vectors);

// Vectors of sums that a register tile may have: a few registers are left to its operands.
int64_t sums_in_registers(const Target& target);

}  // namespace tilewright::heuristic
