#include "cost/forest_scorer.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "cost/forest_vectors.h"
#include "target/host_vectors.h"

namespace tilewright::cost {
namespace {

// Writes node `from` of `tree` as node `to` of the padded tree. `slot_of` is indexed by column.
void pad(const Tree& tree, size_t from, size_t to, std::span<const uint32_t> slot_of,
         std::span<int32_t> columns, std::span<float> thresholds, std::span<float> leaves) {
  const TreeNode& node = tree[from];
  if (to >= columns.size()) {
    leaves[to - columns.size()] = node.value;
    return;
  }
  if (!node.is_leaf()) {
    columns[to] = static_cast<int32_t>(slot_of[static_cast<size_t>(node.feature)] * kBlock);
    thresholds[to] = node.value;
  }
  const auto child = [&](int32_t next) {
    return node.is_leaf() ? from : static_cast<size_t>(next);
  };
  pad(tree, child(node.left), 2 * to + 1, slot_of, columns, thresholds, leaves);
  pad(tree, child(node.right), 2 * to + 2, slot_of, columns, thresholds, leaves);
}

ForestScorer::PaddedTree padded_tree(const Tree& tree, std::span<const uint32_t> slot_of) {
  constexpr size_t kNodes = (size_t{1} << ForestScorer::kLevels) - 1;
  int32_t columns[kNodes] = {};
  float thresholds[kNodes] = {};
  ForestScorer::PaddedTree padded;
  pad(tree, 0, 0, slot_of, columns, thresholds, padded.leaf);
  std::copy_n(columns, 7, padded.upper_column);
  std::copy_n(thresholds, 7, padded.upper_threshold);
  std::copy_n(columns + 7, 8, padded.column3);
  std::copy_n(thresholds + 7, 8, padded.threshold3);
  std::copy_n(columns + 15, 16, padded.column4);
  std::copy_n(thresholds + 15, 16, padded.threshold4);
  std::copy_n(columns + 31, 32, padded.column5);
  std::copy_n(thresholds + 31, 32, padded.threshold5);
  return padded;
}

}  // namespace

ForestScorer::ForestScorer(const Forest& forest, Form form) : forest_(forest) {
  const bool is_shallow =
      std::ranges::all_of(forest.trees, [](const Tree& tree) { return depth_of(tree) <= kLevels; });
  if (form == Form::Plain || !is_shallow || !host_has_vectors_512()) return;
  std::vector<uint32_t> slot_of(forest.width, std::numeric_limits<uint32_t>::max());
  for (const Tree& tree : forest.trees) {
    for (const TreeNode& node : tree) {
      if (!node.is_leaf()) slot_of[static_cast<size_t>(node.feature)] = 0;
    }
  }
  for (uint32_t column = 0; column < forest.width; ++column) {
    if (slot_of[column] != 0) continue;
    slot_of[column] = static_cast<uint32_t>(used_.size());
    used_.push_back(column);
  }
  padded_.reserve(forest.trees.size());
  for (const Tree& tree : forest.trees) padded_.push_back(padded_tree(tree, slot_of));
}

void ForestScorer::score(const float* rows, std::span<float> scores) const {
  if (is_vectorized()) {
    score_in_vectors({.width = forest_.width, .used = used_, .trees = padded_}, rows, scores);
  } else {
    score_plain(rows, scores);
  }
}

void ForestScorer::score_plain(const float* rows, std::span<float> scores) const {
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = score_plainly(forest_, rows + i * forest_.width);
  }
}

}  // namespace tilewright::cost
