// NestFacts: what one sees when one looks at the loops of a program with its speed in mind. Of the
// stage that does most of the arithmetic. A value; pure functions.
#pragma once

#include <cstdint>

#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::feature {

struct NestFacts {
  schedule::StageName
      hottest;  // the stage with most of the FLOP, or of the elements if there are none
  double hottest_share = 0;  // of all FLOP

  bool vectorized = false;    // it has a loop of lanes, or a tensor intrinsic
  int64_t vector_length = 0;  // iterations of that loop
  double lanes_used = 1;      // of the vectors that hold them: 20 lanes in 2 vectors of 16: 0.625
  schedule::StageName with_gaps;  // an operand that lanes do not take one after the other, if any

  bool reduces = false;
  int64_t sums = 0;  // vectors (or scalars) of sums that the innermost reduction has in flight

  int64_t tasks = 1;        // iterations that threads share; 1: it runs on one thread
  double balance = 1;       // of the threads' time that is used when tasks are equal: 3 on 2: 0.75
  double ragged_share = 0;  // of the elements of an axis that lie in a smaller last tile, the most
};

NestFacts nest_facts(const schedule::LoopTree& tree, const Target& target);

}  // namespace tilewright::feature
