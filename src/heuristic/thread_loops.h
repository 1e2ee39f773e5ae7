// Parallel loops: fuses the outermost loops of a stage into one parallel loop with several
// iterations per thread, if there is enough work.
//
//   16 threads, outer j.0 < 16, i.0 < 64   ->   fuse C [j.0, i.0], annotate C (j.0,i.0) parallel
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

inline constexpr int64_t kTasksPerThread = 4;  // parallel iterations, if there are enough

// The work of a stage in vector operations: iterations * instructions / lanes.
double vector_operations(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const Target& target);

// Minimum work for which threads save more time than waking them costs: the default schedule uses
// them.
inline constexpr double kWorthThreads = 8192;
bool is_worth_threads(const schedule::LoopTree& tree, schedule::StageIndex stage,
                      const Target& target);
// The same for stages that share a parallel loop.
bool is_worth_threads(const schedule::LoopTree& tree, std::span<const schedule::StageIndex> stages,
                      const Target& target);

// Minimum work for which no search tries the stage without threads. Below it, threads are a choice,
// so the space contains the default schedule with or without them.
inline constexpr double kAlwaysThreads = 4 * kWorthThreads;
bool is_always_threaded(const schedule::LoopTree& tree, schedule::StageIndex stage,
                        const Target& target);

// Replaces the outermost loops of `outer` by one parallel loop; a single long loop is split into
// chunks. Returns the outermost loop, parallel or not; nothing if there is none.
std::optional<Name> make_parallel(Tiling& tiling, schedule::StageIndex stage,
                                  std::vector<Name>& outer, bool work_is_large);

// Fuses adjacent loops into one; empty if they do not fuse.
std::optional<Name> fuse_loops(Tiling& tiling, schedule::StageIndex stage,
                               const schedule::LoopList& loops);

}  // namespace tilewright::heuristic
