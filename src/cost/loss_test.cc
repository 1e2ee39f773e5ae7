#include "cost/loss.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace tilewright::cost {
namespace {

std::vector<uint32_t> all_of(std::span<const Label> labels) {
  std::vector<uint32_t> members(labels.size());
  std::iota(members.begin(), members.end(), 0U);
  return members;
}

TEST(Labels, AreRelativeToTheBestOfTheGroup) {
  Samples samples;
  samples.latency_ns = {20, 10, 0, 300, 100};
  samples.group = {4, 4, 4, 2, 2};
  samples.weight = {1, 1, 1, 0.5, 0.5};
  const std::vector<Label> labels = labels_of(samples, 0.3);
  const std::array<float, 5> y = {0.5F, 1, 0, 1.0F / 3, 1};
  const std::array<float, 5> weight = {0.5F, 1, 0.3F, 0.5F / 3, 0.5F};
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_FLOAT_EQ(labels[i].y, y[i]) << i;
    EXPECT_FLOAT_EQ(labels[i].weight, weight[i]) << i;
  }
}

class Derivatives : public testing::TestWithParam<LossKind> {};
INSTANTIATE_TEST_SUITE_P(Loss, Derivatives,
                         testing::Values(LossKind::SquaredError, LossKind::PairwiseRank));

// The loss is a mean, the gradients are of a sum: compares their directions.
TEST_P(Derivatives, AgreeWithFiniteDifferences) {
  const std::vector<Label> labels = {{.y = 1, .weight = 1},
                                     {.y = 0.5F, .weight = 0.5F},
                                     {.y = 0.2F, .weight = 0.2F},
                                     {.y = 0, .weight = 0.3F},
                                     {.y = 1, .weight = 1, .group = 1},
                                     {.y = 0.4F, .weight = 0.4F, .group = 1}};
  const auto loss = make_loss(GetParam(), labels, all_of(labels), 1);
  std::vector<float> scores = {0.1F, 0.6F, 0.3F, 0.2F, -0.5F, 0.5F};
  std::vector<float> gradient(6), hessian(6);
  loss->add_gradients(scores, gradient, hessian);
  std::vector<double> numeric(6);
  double dot = 0, numeric_size = 0, size = 0;
  for (size_t i = 0; i < 6; ++i) {
    const float kept = scores[i];
    scores[i] = kept + 0.01F;
    const double above = loss->value(scores);
    scores[i] = kept - 0.01F;
    numeric[i] = above - loss->value(scores);
    scores[i] = kept;
    dot += numeric[i] * gradient[i];
    numeric_size += numeric[i] * numeric[i];
    size += gradient[i] * gradient[i];
    EXPECT_GT(hessian[i], 0) << i;
  }
  EXPECT_NEAR(dot / std::sqrt(numeric_size * size), 1, 1e-3);
}

TEST(PairwiseRank, HasNoPairsAcrossGroupsOrOfFailures) {
  const std::vector<Label> labels = {{.y = 1, .weight = 1, .group = 0},
                                     {.y = 0.5F, .weight = 0.5F, .group = 1},
                                     {.y = 0, .weight = 0.3F, .group = 2},
                                     {.y = 0, .weight = 0.3F, .group = 2}};
  const auto loss = make_loss(LossKind::PairwiseRank, labels, all_of(labels), 1);
  std::vector<float> scores = {0, 1, 2, 3}, gradient(4), hessian(4);
  loss->add_gradients(scores, gradient, hessian);
  EXPECT_EQ(gradient, std::vector<float>(4));
  EXPECT_EQ(loss->value(scores), 0);
}

TEST(PairwiseRank, PairsOfALargeGroupDependOnTheSeedAlone) {
  std::vector<Label> labels(300);
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i].y = static_cast<float>(i + 1) / 300;
    labels[i].weight = labels[i].y;
  }
  const std::vector<float> scores(300);
  const auto gradient_of = [&](uint64_t seed) {
    std::vector<float> gradient(300), hessian(300);
    make_loss(LossKind::PairwiseRank, labels, all_of(labels), seed)
        ->add_gradients(scores, gradient, hessian);
    return gradient;
  };
  EXPECT_EQ(gradient_of(1), gradient_of(1));
  EXPECT_NE(gradient_of(1), gradient_of(2));
  EXPECT_LT(gradient_of(1).back(), 0);   // the best is pushed up
  EXPECT_GT(gradient_of(1).front(), 0);  // the worst down
}

TEST(Loss, HasAName) {
  EXPECT_EQ(parse_loss("squared_error"), LossKind::SquaredError);
  EXPECT_EQ(parse_loss("pairwise_rank"), LossKind::PairwiseRank);
  EXPECT_FALSE(parse_loss("rank").has_value());
}

}  // namespace
}  // namespace tilewright::cost
