#include "cost/forest.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/rng.h"
#include "cost/forest_scorer.h"
#include "cost/forest_vectors.h"
#include "target/host_vectors.h"

namespace tilewright::cost {
namespace {

// A tree with at most `levels` splits above a leaf; thresholds are small integers so that rows hit
// them exactly.
void grow(Tree& tree, size_t node, size_t levels, size_t width, Rng& rng) {
  if (levels == 0 || rng.chance(0.1)) {
    tree[node].value = static_cast<float>(rng.uniform() - 0.5);
    return;
  }
  tree[node].feature = static_cast<int32_t>(rng.below(width));
  tree[node].value = static_cast<float>(rng.below(6));
  tree[node].gain = 1;
  tree[node].left = static_cast<int32_t>(tree.size());
  tree[node].right = tree[node].left + 1;
  const auto left = static_cast<size_t>(tree[node].left);
  tree.resize(tree.size() + 2);
  grow(tree, left, levels - 1, width, rng);
  grow(tree, left + 1, levels - 1, width, rng);
}

Forest random_forest(size_t trees, size_t levels, size_t width, Rng& rng) {
  Forest forest{.width = width, .trees = {}};
  for (size_t i = 0; i < trees; ++i) {
    Tree tree(1);
    grow(tree, 0, levels, width, rng);
    forest.trees.push_back(std::move(tree));
  }
  return forest;
}

std::vector<float> random_rows(size_t count, size_t width, Rng& rng) {
  std::vector<float> rows(count * width);
  for (float& number : rows) number = static_cast<float>(rng.between(-1, 6));
  return rows;
}

TEST(Forest, GoesLeftBelowTheThreshold) {
  const Forest forest{.width = 1,
                      .trees = {{{.left = 1, .right = 2, .feature = 0, .value = 2, .gain = 5},
                                 {.value = -1},
                                 {.value = 1}}}};
  const float below = 1.9F, at = 2;
  EXPECT_EQ(score_plainly(forest, &below), -1);
  EXPECT_EQ(score_plainly(forest, &at), 1);
  EXPECT_EQ(depth_of(forest.trees[0]), 1U);
  EXPECT_EQ(gain_by_feature(forest), std::vector<double>{5});
}

TEST(ForestScorer, EqualsThePlainEvaluationBitwise) {
  Rng rng(3);
  for (const size_t levels : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    for (const size_t count : {0U, 1U, 15U, 16U, 17U, 32U, 33U, 100U}) {
      const Forest forest = random_forest(20, levels, 9, rng);
      const std::vector<float> rows = random_rows(count, 9, rng);
      for (const auto form : {ForestScorer::Form::Best, ForestScorer::Form::Plain}) {
        std::vector<float> scores(count);
        ForestScorer(forest, form).score(rows.data(), scores);
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(scores[i], score_plainly(forest, rows.data() + i * 9)) << levels << " " << i;
        }
      }
    }
  }
}

TEST(ForestScorer, IsVectorizedIfSupported) {
  Rng rng(1);
  EXPECT_EQ(ForestScorer(random_forest(3, 6, 5, rng)).is_vectorized(), host_has_vectors_512());
  Forest deep = random_forest(3, 6, 5, rng);
  deep.trees.emplace_back(15);
  int32_t next = 0;
  for (size_t i = 0; i < 7; ++i) {
    deep.trees.back()[2 * i].left = ++next;
    deep.trees.back()[2 * i].right = ++next;
  }
  EXPECT_FALSE(ForestScorer(deep).is_vectorized());
  EXPECT_FALSE(ForestScorer(Forest{}).is_vectorized());
}

TEST(Forest, RoundTrips) {
  Rng rng(5);
  const Forest forest = random_forest(7, 6, 12, rng);
  const Result<Forest> read = forest_from_json(*parse_json(print_json(forest_to_json(forest))));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, forest);
}

TEST(Forest, RejectsMalformedForests) {
  const char* const tree_text =
      R"({"left":[1,-1,-1],"right":[2,-1,-1],"feature":[0,0,0],"value":[1,2,3],"gain":[1,0,0]})";
  const struct {
    std::string from, to, message;
  } cases[] = {
      {"[1,-1", "[0,-1", "tree 0: node 0 has no such children"},
      {"[2,-1", "[3,-1", "tree 0: node 0 has no such children"},
      {"[2,-1", "[-1,-1", "tree 0: node 0 has no such children"},
      {"\"feature\":[0", "\"feature\":[2", "tree 0: node 0 splits no column of 2"},
      {"\"feature\":[0", "\"feature\":[-1", "tree 0: node 0 splits no column of 2"},
      {"\"value\":[1,", "\"value\":[", "tree 0: 'value' has 2 numbers of 3"},
      {"\"value\":[1", "\"value\":[1e99", "tree 0: 'value' is not a finite number"},
      {"\"value\":[1", "\"value\":[null", "tree 0: 'value' is not a finite number"},
      {"\"left\":[1", "\"left\":[99999999999",
       "tree 0: 'left': element 0 is not an index; legal are integers from 0 to 1073741823, and -1 "
       "for none"},
      {"\"left\":[1,-1", "\"left\":[1,1.5",
       "tree 0: 'left': element 1 is not an index; legal are integers from 0 to 1073741823, and -1 "
       "for none"},
      {"\"gain\"", "\"loss\"", "tree 0: no array 'gain'"},
      {"{\"left\":[1,-1,-1],", "{\"left\":[],", "tree 0: 'left' has 0 numbers of 0"},
  };
  const auto read = [](const std::string& tree) {
    return forest_from_json(*parse_json(R"({"width":2,"trees":[)" + tree + "]}"));
  };
  ASSERT_TRUE(read(tree_text).has_value());
  for (const auto& [from, to, message] : cases) {
    std::string text = tree_text;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    const Result<Forest> forest = read(text);
    ASSERT_FALSE(forest.has_value()) << text;
    EXPECT_EQ(forest.error().message, message);
  }
  EXPECT_FALSE(forest_from_json(*parse_json("{}")).has_value());
  EXPECT_FALSE(forest_from_json(*parse_json(R"({"width":-1,"trees":[]})")).has_value());
}

}  // namespace
}  // namespace tilewright::cost
