// NestFacts: properties of the loops of a program that determine its speed, for the stage with most
// of the arithmetic. A tensor intrinsic computes one vector of accumulators per row. A value; pure
// functions.
#pragma once

#include <cstdint>

#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::feature {

struct NestFacts {
  schedule::StageName hottest;  // the stage with the most FLOP, or, without FLOP, the most elements
  double hottest_share = 0;     // its share of all FLOP

  bool vectorized = false;    // has a vectorized loop or a tensor intrinsic
  int64_t vector_length = 0;  // iterations of the vectorized loop, or the lanes of the intrinsic
  double lanes_used = 1;  // share of the vector lanes in use: 20 lanes in 2 vectors of 16: 0.625
  schedule::StageName with_gaps;  // an operand that lanes do not access contiguously, if any

  bool reduces = false;
  int64_t sums = 0;  // independent accumulators (vectors or scalars) of the innermost reduction

  int64_t tasks = 1;   // parallel iterations; 1: runs on one thread
  double balance = 1;  // utilization of the threads for equal tasks: 3 tasks on 2 threads: 0.75
  double ragged_share = 0;  // largest share of an axis that is in a smaller last tile
};

NestFacts nest_facts(const schedule::LoopTree& tree, const Target& target);

}  // namespace tilewright::feature
