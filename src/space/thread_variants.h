// The ways to parallelize the loops of a stage: the first loop, the first two fused, and so on.
// Pure functions.
//
//   outer i, j   ->   {i parallel, j}, {(i,j) parallel}, and where the work is little {i, j}
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

// At least one. `is_worth`: there is no variant without threads where the target has several.
std::vector<ThreadVariant> thread_variants(const Target& target, schedule::StageName stage,
                                           const PlainLoops& loops, bool is_worth);

// Makes one parallel loop of as many of the first loops as give each thread some iterations; no
// steps for a target of one thread.
DraftWriter::Steps parallel_steps(const Target& target, schedule::StageName stage,
                                  std::span<const PlannedLoop> loops);

// One parallel loop of several.
FusedLoops fuse_parallel(schedule::StageName stage, std::span<const Name> loops);

}  // namespace tilewright::space
