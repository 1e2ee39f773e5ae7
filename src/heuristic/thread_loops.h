// Parallel loops: fuses the outermost loops of a stage into one parallel loop with several
// iterations per thread, if there is enough work.
//
//   16 threads, outer j.0 < 16, i.0 < 64   ->   fuse C [j.0, i.0], annotate C (j.0,i.0) parallel
#pragma once

#include <optional>
#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

inline constexpr int64_t kTasksPerThread = 4;  // parallel iterations, if there are enough

// Work below this number of vector operations costs less than waking threads.
bool is_worth_threads(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const Target& target);

// The stage has enough iterations that a search tries it with threads only; otherwise threads are a
// choice.
bool is_always_threaded(const schedule::LoopTree& tree, schedule::StageIndex stage);

// Makes one parallel loop of the outermost of `outer`, which it takes the place of there; a single
// long loop is cut into chunks. Gives the outermost loop, parallel or not; nothing when there is
// none.
std::optional<Name> make_parallel(Tiling& tiling, schedule::StageIndex stage,
                                  std::vector<Name>& outer, bool work_is_large);

// Fuses adjacent loops into one; empty if they do not fuse.
std::optional<Name> fuse_loops(Tiling& tiling, schedule::StageIndex stage,
                               const schedule::LoopList& loops);

}  // namespace tilewright::heuristic
