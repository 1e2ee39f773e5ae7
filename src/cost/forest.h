// Forest: boosted regression trees as plain data. The output for a row is the sum over all trees of
// the leaf that the row reaches; a row goes left if row[feature] < threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tilewright::cost {

struct TreeNode {
  int32_t left = -1, right = -1;  // both -1: a leaf; otherwise greater than the node's own index
  int32_t feature = 0;            // column of the row
  float value = 0;                // threshold, or the value of the leaf
  float gain = 0;                 // reduction of the loss by the split

  bool is_leaf() const { return left < 0; }
  bool operator==(const TreeNode&) const = default;
};

using Tree = std::vector<TreeNode>;  // the root is the first node

struct Forest {
  size_t width = 0;  // numbers in a row
  std::vector<Tree> trees;

  bool operator==(const Forest&) const = default;
};

size_t depth_of(const Tree& tree);  // 0 for a single leaf
// Total gain of each column over all splits.
std::vector<double> gain_by_feature(const Forest& forest);
// Straightforward evaluation of one row, the reference for ForestScorer.
float score_plainly(const Forest& forest, const float* row);

Json forest_to_json(const Forest& forest);
// Rejects malformed forests: missing children, cycles, columns beyond the width, numbers that are
// not finite.
Result<Forest> forest_from_json(const Json& json);

}  // namespace tilewright::cost
