// Tiling: the shared state of the default scheduler: the growing trace, the target, and the style
// of its tiles. It owns nothing. Not thread-safe.
#pragma once

#include "heuristic/register_tile.h"
#include "schedule/trace_builder.h"

namespace tilewright::heuristic {

struct Tiling {
  schedule::TraceBuilder& builder;
  const Target& target;
  TileStyle style;

  const schedule::LoopTree& tree() const { return builder.tree(); }
  schedule::StageName name_of(schedule::StageIndex stage) const { return tree().stage(stage).name; }
  // Iterations of a loop; 1 if there is no such loop.
  int64_t trips(schedule::StageIndex stage, Name loop) const {
    const schedule::VarIndex found = tree().find_loop(stage, loop);
    return found == schedule::kNone ? 1 : tree().var(found).extent;
  }
};

}  // namespace tilewright::heuristic
