// Which loops threads share: the outermost ones of a stage, fused into one that has some iterations
// for each thread, where the work is worth it.
//
//   16 threads, outer j.0 < 16, i.0 < 64   ->   fuse C [j.0, i.0], annotate C (j.0,i.0) parallel
#pragma once

#include <optional>
#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

inline constexpr int64_t kTasksPerThread = 4;  // parallel iterations, where there are as many

// Fewer vector operations than this cost less than waking threads.
bool is_worth_threads(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const Target& target);

// The stage has so many iterations that a search tries it with threads only; with fewer it is a
// choice.
bool is_always_threaded(const schedule::LoopTree& tree, schedule::StageIndex stage);

// Makes one parallel loop of the outermost of `outer`, which it takes the place of there; a single
// long loop is cut into chunks. Gives the outermost loop, parallel or not; nothing when there is
// none.
std::optional<Name> make_parallel(Tiling& tiling, schedule::StageIndex stage,
                                  std::vector<Name>& outer, bool work_is_large);

// One loop of several, as they stand; nothing when they do not fuse.
std::optional<Name> fuse_loops(Tiling& tiling, schedule::StageIndex stage,
                               const schedule::LoopList& loops);

}  // namespace tilewright::heuristic
