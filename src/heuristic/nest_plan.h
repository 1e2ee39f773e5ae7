// NestPlan: which stages of a program belong into one loop nest, by how they read each other.
//
//   pair    a tiled reduction and the one stage that takes it element by element: computed tile by
//           tile inside its reader         C = conv(X), Y[n, y, x, c] = relu(C[n, y, x, c])
//   group   stages that share leading axes with the stage at the end of their chain: computed row
//           by row with it                 M[i], E[i, j], S[i] of a softmax Y[i, j], by rows i
//
// Read off a tree in which what is to be inlined is inlined. A value.
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
      pairs;                                         // reader -> the tiled reduction in it
  std::map<schedule::StageIndex, NestGroup> groups;  // by root
  std::map<schedule::StageIndex, schedule::StageIndex>
      nested;  // what is computed inside of another -> that one
};

// Groups have at least `least_rows` rows, which threads share.
NestPlan plan_nests(const schedule::LoopTree& tree, double least_rows);

// It has loops: neither an input nor inlined.
bool is_scheduled(const schedule::LoopTree& tree, schedule::StageIndex stage);

// All that stages with loops read of a stage. Valid until the tree changes.
std::vector<const schedule::Access*> accesses_to(const schedule::LoopTree& tree,
                                                 schedule::StageIndex producer);

// How many times each element of a stage would be computed if it were inlined.
double copies_inlined(const schedule::LoopTree& tree, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
