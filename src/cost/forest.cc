#include "cost/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace tilewright::cost {
namespace {

// Of a node or a column.
constexpr int64_t kMaxIndex = (int64_t{1} << 30) - 1;

// A tree is five arrays of equal length: {"left": [1, -1, -1], "right": [2, -1, -1], ...}.
template <class Number>
Json column(const Tree& tree, Number TreeNode::* field) {
  Json numbers = Json::array();
  for (const TreeNode& node : tree) numbers.push_back(node.*field);
  return numbers;
}

template <class Number>
Status read_column(const Json& json, const char* key, Number TreeNode::* field, Tree* tree) {
  const Json* const numbers = find_member(json, key);
  if (numbers == nullptr || !numbers->is_array()) {
    return fail(ErrorKind::BadInput, fmt::format("no array '{}'", key));
  }
  if (tree->empty()) tree->resize(numbers->size());
  if (numbers->size() != tree->size() || tree->empty()) {
    return fail(ErrorKind::BadInput,
                fmt::format("'{}' has {} numbers of {}", key, numbers->size(), tree->size()));
  }
  for (size_t i = 0; i < tree->size(); ++i) {
    const Json& number = (*numbers)[i];
    if constexpr (std::is_integral_v<Number>) {
      const bool fits = number.is_number_integer() && number.get<int64_t>() >= -1 &&
                        number.get<int64_t>() <= kMaxIndex;
      if (!fits) {
        return fail(
            ErrorKind::BadInput,
            fmt::format("'{}': element {} is not an index; legal are integers from 0 to {}, "
                        "and -1 for none",
                        key, i, kMaxIndex));
      }
    } else if (!number.is_number() || !std::isfinite(number.get<float>())) {
      return fail(ErrorKind::BadInput, fmt::format("'{}' is not a finite number", key));
    }
    (*tree)[i].*field = number.get<Number>();
  }
  return {};
}

Status check_tree(const Tree& tree, size_t width) {
  const auto is_below = [&](int32_t child, size_t node) {
    return child > static_cast<int64_t>(node) && static_cast<size_t>(child) < tree.size();
  };
  for (size_t i = 0; i < tree.size(); ++i) {
    const TreeNode& node = tree[i];
    if (node.left == -1 && node.right == -1) continue;
    if (!is_below(node.left, i) || !is_below(node.right, i)) {
      return fail(ErrorKind::BadInput, fmt::format("node {} has no such children", i));
    }
    if (node.feature < 0 || static_cast<size_t>(node.feature) >= width) {
      return fail(ErrorKind::BadInput, fmt::format("node {} splits no column of {}", i, width));
    }
  }
  return {};
}

Result<Tree> tree_from_json(const Json& json, size_t width) {
  Tree tree;
  for (const Status& status : {read_column(json, "left", &TreeNode::left, &tree),
                               read_column(json, "right", &TreeNode::right, &tree),
                               read_column(json, "feature", &TreeNode::feature, &tree),
                               read_column(json, "value", &TreeNode::value, &tree),
                               read_column(json, "gain", &TreeNode::gain, &tree)}) {
    TRY(status);
  }
  TRY(check_tree(tree, width));
  return tree;
}

}  // namespace

size_t depth_of(const Tree& tree) {
  std::vector<size_t> depth(tree.size());  // of each node; children follow their parent
  size_t deepest = 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    deepest = std::max(deepest, depth[i]);
    if (tree[i].is_leaf()) continue;
    depth[static_cast<size_t>(tree[i].left)] = depth[i] + 1;
    depth[static_cast<size_t>(tree[i].right)] = depth[i] + 1;
  }
  return deepest;
}

std::vector<double> gain_by_feature(const Forest& forest) {
  std::vector<double> gain(forest.width);
  for (const Tree& tree : forest.trees) {
    for (const TreeNode& node : tree) {
      if (!node.is_leaf()) gain[static_cast<size_t>(node.feature)] += node.gain;
    }
  }
  return gain;
}

float score_plainly(const Forest& forest, const float* row) {
  float score = 0;
  for (const Tree& tree : forest.trees) {
    const TreeNode* node = tree.data();
    while (!node->is_leaf()) {
      node =
          &tree[static_cast<size_t>(row[node->feature] < node->value ? node->left : node->right)];
    }
    score += node->value;
  }
  return score;
}

Json forest_to_json(const Forest& forest) {
  Json trees = Json::array();
  for (const Tree& tree : forest.trees) {
    trees.push_back({{"left", column(tree, &TreeNode::left)},
                     {"right", column(tree, &TreeNode::right)},
                     {"feature", column(tree, &TreeNode::feature)},
                     {"value", column(tree, &TreeNode::value)},
                     {"gain", column(tree, &TreeNode::gain)}});
  }
  return {{"width", forest.width}, {"trees", std::move(trees)}};
}

Result<Forest> forest_from_json(const Json& json) {
  const int64_t width = TRY(member<int64_t>(json, "width"));
  const Json* const trees = find_member(json, "trees");
  if (width < 0 || width > (1 << 20) || trees == nullptr || !trees->is_array()) {
    return fail(ErrorKind::BadInput, "no 'trees' over a sensible 'width'");
  }
  Forest forest{.width = static_cast<size_t>(width), .trees = {}};
  for (const Json& tree : *trees) {
    Result<Tree> read = tree_from_json(tree, forest.width);
    if (!read) {
      return fail(ErrorKind::BadInput,
                  fmt::format("tree {}: {}", forest.trees.size(), read.error().message));
    }
    forest.trees.push_back(*std::move(read));
  }
  return forest;
}

}  // namespace tilewright::cost
