// Draft: a sketch under construction. Rules give it structure (tiles, caches, attachment).
// Annotation then adds the rest (threads, lanes, unrolling, locations of small stages).
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heuristic/axis_roles.h"
#include "schedule/loop_tree.h"
#include "schedule/sketch.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::space {

using schedule::StageName;

// The input that all rules share.
struct SpaceContext {
  const Task* task = nullptr;
  const schedule::LoopTree* initial = nullptr;
  const schedule::LoopTree* plain = nullptr;  // of the empty trace, with numbers computed
  int cores = 1;                              // number of cores that the rules assume
  std::set<std::string> off{};                // names of disabled rules and extensions

  bool has(const std::string& extension) const { return !off.contains(extension); }
  const te::Dag& dag() const { return *task->workload.dag; }
  const Target& target() const { return task->target; }
};

// The result of a tiling rule for a stage. Loop names are outermost first; loops of extent 1 are
// listed separately.
struct TiledStage {
  using Levels = std::vector<std::vector<Name>>;

  StageName inner;  // computes the tile
  // Has the outer loops: the stage itself, the stage it was cached from, or its reader.
  StageName owner;
  te::OpId op = 0;          // the operator it computes
  std::string structure{};  // `SSRSRS`
  Levels outer{};       // spatial levels of the owner; `inner` is attached to the last loop of them
  Levels owner_tile{};  // the remaining levels of the owner, inside those
  Levels inner_levels{};                           // all levels of the inner stage, outermost first
  std::vector<bool> inner_reduces{};               // per level of it: a reduce level
  std::vector<Name> owner_units{}, inner_units{};  // loops of extent 1
  Name owner_lane, inner_lane;                     // loops of the lanes; empty: none
  bool lane_reduces = false;                       // lanes hold partial results of a reduction
  int lane_axis = heuristic::kNoAxis;              // index in Stage::axes
  std::vector<Name> windows{};  // short reduce axes, not split, in the first reduce level
  std::vector<Name> phases{};   // inner parts of axes that are traversed outside of the outer parts

  bool is_fused() const { return !(inner == owner); }
};

// A reduction that is factored (rfactor): one of its loops is split, and one part of it becomes a
// dimension of the partial results.
struct FactoredStage {
  StageName stage;
  Name axis;  // the axis that is split in two
  // True: the outer part is factored, for threads; false: the inner part, for lanes.
  bool outer = false;
  int64_t unit = 0;  // divides the extent of the inner part for every choice
};

// A reduction whose operands are reused, computed by blocks of rows of the nest that reads it.
struct RowStage {
  StageName stage, root;
  int lead = 0;  // number of outer axes that both share; the last of them gives the rows
};

// An inverse transform (heuristic/transform_tiles.h) and its reader, whose loops are cut into
// tiles, so that the transform can be computed at one.
struct TransformTiles {
  StageName transform, reader;
  std::vector<int64_t> sides{};  // per axis of the reader; 0: it is not cut
};

struct Draft {
  schedule::Sketch sketch{};
  std::vector<StageName> inlined{};
  std::vector<TiledStage> tiled{};
  std::vector<StageName> cached{};  // stages with a `.write`
  std::vector<FactoredStage> factored{};
  std::vector<RowStage> rowed{};
  std::vector<TransformTiles> transforms{};
  std::vector<StageName> chained{};   // one nest: its root, then its members
  std::vector<StageName> unrolled{};  // stages with axes that have the hint simplify_const_index
  std::vector<StageName> done{};      // a user-defined rule has written all their steps

  static bool contains(const std::vector<StageName>& list, StageName stage) {
    return std::ranges::find(list, stage) != list.end();
  }
  bool is_inlined(StageName stage) const { return contains(inlined, stage); }
  bool is_cached(StageName stage) const { return contains(cached, stage); }
  // The reduction that the nest of this root computes by rows; null: none.
  const RowStage* rows_in(StageName root) const;
  // The tiles of the transform that this stage reads; null: none.
  const TransformTiles* tiles_in(StageName reader) const;
};

// The operator of a stage.
te::OpId op_of(const SpaceContext& context, StageName stage);
// True if no rule has scheduled the operator: its loops and its location are left to annotation.
bool is_open(const SpaceContext& context, const Draft& draft, te::OpId op);
// The stage of the operator before, where rules continue; an empty name if there is none.
StageName previous_stage(const SpaceContext& context, StageName stage);
// The tree with only the draft's inlined stages inlined.
schedule::LoopTree inlined_tree(const SpaceContext& context, const Draft& draft);

}  // namespace tilewright::space
