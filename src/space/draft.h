// Draft: a sketch in the making. Rules give it structure (tiles, caches, places); what is left to
// annotate (threads, lanes, unrolling, where small stages are computed) is added when it is whole.
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

// What all rules may ask.
struct SpaceContext {
  const Task* task = nullptr;
  const schedule::LoopTree* initial = nullptr;
  const schedule::LoopTree* plain = nullptr;  // of the empty trace, with numbers
  int cores = 1;                              // that the rules think of
  std::set<std::string> off{};                // names of rules and extensions that are left out

  bool has(const std::string& extension) const { return !off.contains(extension); }
  const te::Dag& dag() const { return *task->workload.dag; }
  const Target& target() const { return task->target; }
};

// What a tiling rule made of a stage; names of loops, outside in. Loops of extent 1 are apart.
struct TiledStage {
  using Levels = std::vector<std::vector<Name>>;

  StageName inner;          // computes the tile
  StageName owner;          // has the outer loops: itself, the stage it was cached from, its reader
  te::OpId op = 0;          // what is computed
  std::string structure{};  // `SSRSRS`
  Levels outer{};           // spatial levels of the owner; inner is attached in the last of them
  Levels owner_tile{};      // what is left of the owner inside of that
  Levels inner_levels{};  // of the inner stage: what it has itself, S and R; of the owner when the
  std::vector<bool> inner_reduces{};  // two are one. Which of those are levels of reductions
  std::vector<Name> owner_units{}, inner_units{};  // loops of extent 1
  Name owner_lane, inner_lane;                     // the loops of the lanes; empty: none
  bool lane_reduces = false;                       // lanes are partial sums
  int lane_axis = heuristic::kNoAxis;              // in Stage::axes
  std::vector<Name> windows{};  // short reductions, uncut in the first level of reductions
  std::vector<Name> phases{};   // inner parts of axes that are walked outside of the outer parts

  bool is_fused() const { return !(inner == owner); }
};

// A reduction in parts: the split loop, and which of its two parts is factored.
struct FactoredStage {
  StageName stage;
  Name axis;           // that is split in two
  bool outer = false;  // the outer part is factored: for threads; else the inner one, for lanes
  int64_t unit = 0;    // divides the length of the inner part, whatever is chosen
};

// A reduction whose operands are used again, computed by blocks of rows of the nest that reads it.
struct RowStage {
  StageName stage, root;
  int lead = 0;  // axes that both have, outside; the last of them gives the rows
};

struct Draft {
  schedule::Sketch sketch{};
  std::vector<StageName> inlined{};
  std::vector<TiledStage> tiled{};
  std::vector<StageName> cached{};  // have a `.write`
  std::vector<FactoredStage> factored{};
  std::vector<RowStage> rowed{};
  std::vector<StageName> chained{};   // one nest: its root, then its members
  std::vector<StageName> unrolled{};  // have axes with the hint simplify_const_index
  std::vector<StageName> done{};      // a rule of the user's has given them all their steps

  static bool contains(const std::vector<StageName>& list, StageName stage) {
    return std::ranges::find(list, stage) != list.end();
  }
  bool is_inlined(StageName stage) const { return contains(inlined, stage); }
  bool is_cached(StageName stage) const { return contains(cached, stage); }
  // The reduction that the nest of this root computes by rows; null: none.
  const RowStage* rows_in(StageName root) const;
};

// The operator whose stage it is.
te::OpId op_of(const SpaceContext& context, StageName stage);
// No rule has decided about the operator: its loops and its place are left to annotation.
bool is_open(const SpaceContext& context, const Draft& draft, te::OpId op);
// The stage of the operator before, that rules go on with; an empty name when there is none.
StageName previous_stage(const SpaceContext& context, StageName stage);
// The tree in which what the draft inlines is inlined, and nothing else is done.
schedule::LoopTree inlined_tree(const SpaceContext& context, const Draft& draft);

}  // namespace tilewright::space
