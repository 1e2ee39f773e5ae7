// Draft: a sketch in the making. Rules give it structure (tiles, caches, places); what is left to
// annotate (threads, lanes, unrolling, where small stages are computed) is added when it is whole.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

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
  std::set<std::string> off;                  // names of rules and extensions that are left out

  bool has(const std::string& extension) const { return !off.contains(extension); }
};

// What a tiling rule made of a stage; names of loops, outside in.
struct TiledStage {
  StageName inner;  // computes the tile
  StageName owner;  // has the outer loops: itself, the stage it was cached from, or its reader
  std::vector<std::vector<Name>> owner_levels;  // loops of the owner by level; when the two differ
                                                // inner is attached to the last of them
  std::vector<Name> owner_tile;                 // what is left of the owner inside of that
  std::vector<std::vector<Name>> inner_levels;  // of the inner stage by level, S and R
  std::vector<bool> inner_reduces;              // which of those are levels of reductions
};

struct Draft {
  schedule::Sketch sketch;
  std::set<StageName> inlined;
  std::vector<TiledStage> tiled;
  std::set<StageName> cached;    // have a `.write`
  std::set<StageName> factored;  // have an `.rfactor`
};

}  // namespace tilewright::space
