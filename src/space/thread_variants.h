// The ways to parallelize the loops of a stage: the first loop, the first two fused, and so on.
// Pure functions.
//
//   outer i, j   ->   {i parallel, j}, {(i,j) parallel}, and, if there is little work, {i, j}
#pragma once

#include <span>
#include <vector>

#include "space/draft_writer.h"
#include "space/plain_layout.h"

namespace tilewright::space {

// One of the ways: its steps, and the resulting loops.
struct ThreadVariant {
  DraftWriter::Steps steps{};
  std::vector<Name> loops{};  // outside in; other stages may be computed there
};

// At least one. `is_worth`: no variant without threads, if the target has several.
std::vector<ThreadVariant> thread_variants(const Target& target, schedule::StageName stage,
                                           const PlainLoops& loops, bool is_worth);

// Fuses the first loops into one parallel loop, enough of them for several iterations per thread;
// no steps for a target with one thread.
DraftWriter::Steps parallel_steps(const Target& target, schedule::StageName stage,
                                  std::span<const PlannedLoop> loops);

// Fuses the loops into one parallel loop.
FusedLoops fuse_parallel(schedule::StageName stage, std::span<const Name> loops);

}  // namespace tilewright::space
