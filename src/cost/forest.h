// Forest: boosted regression trees as plain data. The output of a row is the sum over the trees of
// the leaf it falls into; it goes left where row[feature] < threshold.
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
  float value = 0;                // threshold, or what the leaf adds
  float gain = 0;                 // by how much the split lowered the loss

  bool is_leaf() const { return left < 0; }
  bool operator==(const TreeNode&) const = default;
};

using Tree = std::vector<TreeNode>;  // the root is the first

struct Forest {
  size_t width = 0;  // numbers in a row
  std::vector<Tree> trees;

  bool operator==(const Forest&) const = default;
};

size_t depth_of(const Tree& tree);  // of a single leaf 0
// Total gain of each column over all splits.
std::vector<double> gain_by_feature(const Forest& forest);
// The obvious evaluation of one row, to hold ForestScorer against.
float score_plainly(const Forest& forest, const float* row);

Json forest_to_json(const Forest& forest);
// Refuses what is no forest: children that do not exist or lead back, columns beyond the width,
// numbers that are not finite.
Result<Forest> forest_from_json(const Json& json);

}  // namespace tilewright::cost
