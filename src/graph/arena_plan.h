// Offsets in one arena for blocks of bytes with known lifetimes: blocks that are alive at the same
// step do not overlap, others may share bytes. Offsets and sizes are in bytes, lifetimes in steps.
// Pure functions: the same lifetimes give the same plan.
//
//   plan_arena({{.bytes = 64, .first = 0, .last = 1}, {.bytes = 64, .first = 2, .last = 3}})
//     -> offsets {0, 0}, peak 64
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tilewright::graph {

// Bytes that are alive from the step `first` to the step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  size_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // of each lifetime, multiples of 64
  int64_t peak = 0;              // the size of the arena
};

// Best fit over several orders; the plan with the lowest peak, improved step by step.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

// The most bytes that are alive at one step: no plan has a lower peak.
int64_t max_alive(std::span<const Lifetime> lifetimes);

}  // namespace tilewright::graph
