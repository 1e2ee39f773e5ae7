// NestPlan: groups the stages of a program into loop nests, by how they read each other.
//
//   pair    a tiled reduction (heavy, or over a light window) and the only stage that reads it,
//           elementwise: computed tile by tile inside its reader
//                                          C = conv(X), Y[n, y, x, c] = relu(C[n, y, x, c])
//   group   stages that share leading axes with the stage at the end of their chain: computed row
//           by row with it                 M[i], E[i, j], S[i] of a softmax Y[i, j], by rows i
//   tiles   an inverse transform by constant matrices and the stage that picks its elements:
//   computed
//           tile by tile inside its reader (transform_tiles.h)
//                                          Y[y, x, c] = I[y mod 4, x mod 4, .., c]
//
// Derived from a tree after inlining. A value.
#pragma once

#include <map>
#include <vector>

#include "schedule/loop_tree.h"

namespace tilewright::heuristic {

struct NestGroup {
  int lead = 0;                               // leading axes of the root that all members share
  std::vector<schedule::StageIndex> members;  // readers first
};

struct NestPlan {
  std::map<schedule::StageIndex, schedule::StageIndex>
      pairs;  // reader -> the tiled reduction computed inside it
  std::map<schedule::StageIndex, schedule::StageIndex> tiles;  // reader -> the transform inside it
  std::map<schedule::StageIndex, NestGroup> groups;            // per root
  std::map<schedule::StageIndex, schedule::StageIndex>
      nested;  // stage -> the stage it is computed inside
};

// Groups have at least `min_rows` rows, which threads share. With `vectors`, light windows on that
// target make pairs too, and transforms make tiles.
NestPlan plan_nests(const schedule::LoopTree& tree, double min_rows,
                    const Target* vectors = nullptr);

// All accesses to a stage by stages with loops. Valid until the tree changes.
std::vector<const schedule::Access*> accesses_to(const schedule::LoopTree& tree,
                                                 schedule::StageIndex producer);

// The number of times that each element of a stage would be computed if the stage were inlined.
double copies_inlined(const schedule::LoopTree& tree, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
