// What the parts of the default scheduler work on: the trace as it grows, the target, and the style
// of its tiles. It owns nothing. Not to be shared between threads.
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
  // Iterations of a loop; 1 where there is none.
  int64_t trips(schedule::StageIndex stage, Name loop) const {
    const schedule::VarIndex found = tree().find_loop(stage, loop);
    return found == schedule::kNone ? 1 : tree().var(found).extent;
  }
};

}  // namespace tilewright::heuristic
