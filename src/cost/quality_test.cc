#include "cost/quality.h"

#include <gtest/gtest.h>

#include <array>

namespace tilewright::cost {
namespace {

TEST(Quality, PerfectOrderScoresOne) {
  const std::array<float, 4> scores = {4, 3, 2, 1};
  const std::array<double, 4> latency = {10, 20, 30, 40};
  const Quality quality = quality_of(scores, latency, 2);
  EXPECT_EQ(quality.programs, 4U);
  EXPECT_DOUBLE_EQ(quality.rank_correlation, 1);
  EXPECT_DOUBLE_EQ(quality.pairwise_accuracy, 1);
  EXPECT_DOUBLE_EQ(quality.recall_at_k, 1);
  EXPECT_DOUBLE_EQ(quality.top1, 1);
  EXPECT_DOUBLE_EQ(quality.top5, 1);
}

TEST(Quality, ReversedOrderScoresZero) {
  const std::array<float, 6> scores = {1, 2, 3, 4, 5, 6};
  const std::array<double, 6> latency = {10, 20, 30, 40, 50, 60};
  const Quality quality = quality_of(scores, latency, 2);
  EXPECT_DOUBLE_EQ(quality.rank_correlation, -1);
  EXPECT_DOUBLE_EQ(quality.pairwise_accuracy, 0);
  EXPECT_DOUBLE_EQ(quality.recall_at_k, 0);
  EXPECT_DOUBLE_EQ(quality.top1, 10.0 / 60);
  EXPECT_DOUBLE_EQ(quality.top5, 10.0 / 20);  // the second is among the five
}

TEST(Quality, AFailureIsTheSlowest) {
  const std::array<double, 3> latency = {10, 0, 20};
  EXPECT_DOUBLE_EQ(quality_of(std::array<float, 3>{3, 1, 2}, latency).rank_correlation, 1);
  const Quality fooled = quality_of(std::array<float, 3>{2, 3, 1}, latency, 1);
  EXPECT_DOUBLE_EQ(fooled.top1, 0);
  EXPECT_DOUBLE_EQ(fooled.top5, 1);
  EXPECT_DOUBLE_EQ(fooled.recall_at_k, 0);
  EXPECT_NEAR(fooled.pairwise_accuracy, 1.0 / 3, 1e-12);
}

TEST(Quality, EqualScoresCountHalfAndEqualLatenciesNot) {
  const std::array<double, 3> latency = {10, 10, 20};
  const Quality same = quality_of(std::array<float, 3>{1, 1, 1}, latency, 2);
  EXPECT_DOUBLE_EQ(same.rank_correlation, 0);
  EXPECT_DOUBLE_EQ(same.pairwise_accuracy, 0.5);
  const Quality right = quality_of(std::array<float, 3>{2, 3, 1}, latency, 1);
  EXPECT_DOUBLE_EQ(right.pairwise_accuracy, 1);
  EXPECT_DOUBLE_EQ(right.recall_at_k, 1);  // either of the two fastest will do
  // Ranks of speeds 2.5, 2.5, 1 and of scores 2, 3, 1: sqrt(3) / 2.
  EXPECT_NEAR(right.rank_correlation, 0.8660254, 1e-6);
}

// In a set as small as a round, every program would always be found.
TEST(Quality, RecallIsOfTheBestQuarter) {
  std::vector<float> scores;
  std::vector<double> latency;
  for (int i = 0; i < 24; ++i) {
    scores.push_back(static_cast<float>(i));
    latency.push_back(10.0 + i);  // the wrong way round
  }
  const Quality quality = quality_of(scores, latency);
  EXPECT_EQ(quality.k, 6U);
  EXPECT_DOUBLE_EQ(quality.recall_at_k, 0);
  EXPECT_EQ(quality_of(std::span(scores).first(3), std::span(latency).first(3)).k, 1U);
  EXPECT_EQ(quality_of(scores, latency, 30).k, 24U);
}

TEST(Quality, EmptyOrOnlyFailures) {
  EXPECT_EQ(quality_of({}, {}).programs, 0U);
  const Quality failed = quality_of(std::array<float, 2>{1, 2}, std::array<double, 2>{0, 0});
  EXPECT_DOUBLE_EQ(failed.pairwise_accuracy, 0);
  EXPECT_DOUBLE_EQ(failed.top5, 0);
}

}  // namespace
}  // namespace tilewright::cost
