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

// The work of a stage in vector operations: iterations * instructions / lanes.
double vector_operations(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const Target& target);

// From this work on, threads save more than it costs to wake them: the default schedule uses them.
inline constexpr double kWorthThreads = 8192;
bool is_worth_threads(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const Target& target);

// From this work on, no search tries the stage without threads. Below, they are a choice: the
// default schedule is then in the space, whichever way it decided.
inline constexpr double kAlwaysThreads = 4 * kWorthThreads;
bool is_always_threaded(const schedule::LoopTree& tree, schedule::StageIndex stage,
                        const Target& target);

// Makes one parallel loop of the outermost of `outer`, which it takes the place of there; a single
// long loop is cut into chunks. Gives the outermost loop, parallel or not; nothing when there is
// none.
std::optional<Name> make_parallel(Tiling& tiling, schedule::StageIndex stage,
                                  std::vector<Name>& outer, bool work_is_large);

// Fuses adjacent loops into one; empty if they do not fuse.
std::optional<Name> fuse_loops(Tiling& tiling, schedule::StageIndex stage,
                               const schedule::LoopList& loops);

}  // namespace tilewright::heuristic
