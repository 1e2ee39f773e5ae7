// StageTiler: schedules one stage, or a pair, by default. It decides what to do and in which order;
// register_tile, loop_order, thread_loops, operand_copies and constant_axes do it.
//
//   C[i, j] += A[i, k] * B[k, j]   for j.0:  for i.0:  for k:  unroll i.1 < 8:  vectorize j.1 < 32
//   Y[i, j] = exp(X[i, j])         for i:  for j.0:  vectorize j.1 < 64
//   S[i] += X[i, k]                for i:  for k.0:  vectorize k.1 < 64
//   Y[x, c] += X[x + r, c]         for x.0:  for c.0:  unroll r:  unroll x.1 < 14:  vectorize c.1
#pragma once

#include <optional>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

class StageTiler {
 public:
  explicit StageTiler(Tiling& tiling) : tiling_(tiling) {}

  // A stage at root. Its `lead` leading axes become one loop, outermost, in blocks; a parallel one
  // if the work of all stages in it is large. Returns the loop to which stages computed per block
  // of rows are attached.
  std::optional<Name> tile_led(schedule::StageIndex stage, int lead, bool work_is_large);
  // A stage at root, alone.
  void tile_root(schedule::StageIndex stage);
  // An attached stage, or work that is too small for threads.
  void tile_inner(schedule::StageIndex stage);
  // `tiled`, a heavy stage or one with a light window, is computed tile by tile inside `reader`,
  // which reads it elementwise.
  void tile_pair(schedule::StageIndex reader, schedule::StageIndex tiled);

 private:
  const schedule::LoopTree& tree() const { return tiling_.tree(); }
  AxisRoles roles_of(schedule::StageIndex stage, bool may_pack) const;
  RegisterTile tile_of(schedule::StageIndex stage, const AxisRoles& roles) const;
  bool is_large(schedule::StageIndex stage) const;
  // The loops of a stage in the order of its tile; empty if they cannot have that order.
  std::optional<std::vector<Name>> lay_out(schedule::StageIndex stage, const AxisRoles& roles,
                                           const RegisterTile& tile);
  void move_lanes_inside(schedule::StageIndex stage, const AxisRoles& roles);
  // The accumulators of a window become a separate stage. False: it is not such a stage.
  bool tile_window(schedule::StageIndex stage);

  Tiling& tiling_;
};

// Unrolls the taps of a window: all of a light one, the innermost of others if they meet a border.
void unroll_taps(Tiling& tiling, schedule::StageIndex stage);

// Annotates the innermost loops of a laid-out stage: the lanes, and the rows that repeat in
// registers.
void annotate_tile(Tiling& tiling, schedule::StageIndex stage, const AxisRoles& roles);

}  // namespace tilewright::heuristic
