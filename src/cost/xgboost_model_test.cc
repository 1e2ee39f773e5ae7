#include "cost/xgboost_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <thread>

#include "cost/synthetic_testing.h"

namespace tilewright::cost {
namespace {

std::unique_ptr<XgboostModel> trained(const Samples& samples, const XgboostOptions& options = {}) {
  auto model = make_xgboost(options);
  const Status status = model->train(samples);
  CHECK(status.has_value(), "{}", status.error().message);
  return model;
}

class BothLosses : public testing::TestWithParam<LossKind> {};
INSTANTIATE_TEST_SUITE_P(Xgboost, BothLosses,
                         testing::Values(LossKind::SquaredError, LossKind::PairwiseRank),
                         [](const auto& param) { return std::string(loss_name(param.param)); });

TEST_P(BothLosses, LearnsCostsFromFeatureRows) {
  const auto model = trained(synthetic_samples({.programs = 900}), {.loss = GetParam()});
  const Samples unseen = synthetic_samples({.programs = 300, .seed = 2});
  const Quality quality = quality_of(scores_of(*model, unseen.inputs), unseen.latency_ns);
  EXPECT_GT(quality.rank_correlation, 0.9);
  EXPECT_GT(quality.pairwise_accuracy, 0.85);
  EXPECT_GT(quality.top5, 0.8);
  EXPECT_GT(model->file().quality.rank_correlation, 0.85);
}

TEST_P(BothLosses, RanksFailuresLow) {
  const Samples seen = synthetic_samples({.programs = 400, .failure_share = 1});
  const auto model = trained(seen, {.loss = GetParam()});
  EXPECT_EQ(model->file().failures, static_cast<size_t>(std::ranges::count(seen.latency_ns, 0.0)));
  const Samples unseen = synthetic_samples({.programs = 300, .failure_share = 1, .seed = 2});
  const std::vector<float> scores = scores_of(*model, unseen.inputs);
  size_t failures = 0, low = 0;
  std::vector<float> sorted = scores;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (unseen.latency_ns[i] > 0) continue;
    ++failures;
    low += scores[i] <= sorted[sorted.size() / 2] ? 1 : 0;
  }
  ASSERT_GT(failures, 30U);
  EXPECT_GT(static_cast<double>(low), 0.8 * static_cast<double>(failures));  // by chance: 0.5
}

TEST_P(BothLosses, TheSameSamplesGiveTheSameTrees) {
  const Samples samples = synthetic_samples({.programs = 200, .failure_share = 0.5});
  const XgboostOptions options{.loss = GetParam(), .max_trees = 30};
  const auto first = trained(samples, options);
  const auto second = trained(samples, options);
  EXPECT_EQ(first->file().forest, second->file().forest);
  ASSERT_TRUE(second->train(samples).has_value());  // again in the same model
  EXPECT_EQ(first->file().forest, second->file().forest);
}

TEST_P(BothLosses, StopsEarlyOnNoise) {
  const XgboostOptions options{.loss = GetParam(), .max_trees = 100};
  const auto signal = trained(synthetic_samples({.programs = 300}), options);
  const auto noise = trained(synthetic_samples({.programs = 300, .noise = 15}), options);
  EXPECT_LT(noise->file().forest.trees.size(), 25U);
  EXPECT_GT(signal->file().forest.trees.size(), 25U);
}

TEST_P(BothLosses, ForestScoresEqualThoseOfXgboost) {
  const Samples samples = synthetic_samples({.programs = 300});
  const auto own = trained(samples, {.loss = GetParam(), .max_trees = 40});
  const auto theirs =
      trained(samples, {.loss = GetParam(), .max_trees = 40, .evaluator = Evaluator::Xgboost});
  const Samples unseen = synthetic_samples({.programs = 501, .rows = 3, .seed = 2});
  for (const feature::Inputs* inputs : {&samples.inputs, &unseen.inputs}) {
    const std::vector<float> a = scores_of(*own, *inputs), b = scores_of(*theirs, *inputs);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_FLOAT_EQ(a[i], b[i]) << i;
  }
}

TEST(Xgboost, SamplesOfOtherTasksHelpAndWeighLess) {
  Samples samples = synthetic_samples({.programs = 40, .noise = 0.3});
  const Samples unseen = synthetic_samples({.programs = 300, .seed = 2});
  const auto quality = [&](const Samples& from) {
    return quality_of(scores_of(*trained(from), unseen.inputs), unseen.latency_ns);
  };
  const double alone = quality(samples).rank_correlation;
  Samples others = synthetic_samples({.programs = 400, .group = 1, .seed = 3});
  for (double& latency : others.latency_ns) latency *= 50;  // a larger task
  others.weight.assign(others.size(), 0.3F);
  append_samples(others, others.size(), &samples);
  EXPECT_GT(quality(samples).rank_correlation, alone + 0.05);
}

TEST(Xgboost, StaysUntrainedWithoutValidSamples) {
  auto model = make_xgboost();
  EXPECT_FALSE(model->is_trained());
  EXPECT_TRUE(model->train({}).has_value());
  EXPECT_FALSE(model->is_trained());
  Samples failures = synthetic_samples({.programs = 20});
  std::ranges::fill(failures.latency_ns, 0.0);
  EXPECT_TRUE(model->train(failures).has_value());
  EXPECT_FALSE(model->is_trained());
  EXPECT_EQ(scores_of(*model, failures.inputs), std::vector<float>(20));
}

TEST(Xgboost, FewSamplesSuffice) {
  const auto model = trained(synthetic_samples({.programs = 16}));
  EXPECT_TRUE(model->is_trained());
  EXPECT_EQ(model->file().quality.programs, 0U);
}

TEST(Xgboost, RejectsNonFiniteValues) {
  Samples samples = synthetic_samples({.programs = 30});
  samples.inputs[0].values[85] = std::numeric_limits<float>::infinity();
  const Status status = make_xgboost()->train(samples);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "feature 5 of row 2 is not a finite number");
}

TEST(Xgboost, ContinuesFromABase) {
  const Samples samples = synthetic_samples({.programs = 400});
  const auto base = trained(samples);
  XgboostModel model({}, base->file());
  EXPECT_TRUE(model.is_trained());
  EXPECT_EQ(scores_of(model, samples.inputs), scores_of(*base, samples.inputs));
  const Samples few = synthetic_samples({.programs = 40, .seed = 2});
  ASSERT_TRUE(model.train(few).has_value());
  EXPECT_GT(model.file().forest.trees.size(), base->file().forest.trees.size());
  const Samples unseen = synthetic_samples({.programs = 300, .seed = 3});
  const auto correlation = [&](const CostModel& one) {
    return quality_of(scores_of(one, unseen.inputs), unseen.latency_ns).rank_correlation;
  };
  EXPECT_GT(correlation(model), correlation(*trained(few)) + 0.1);
}

TEST(Xgboost, LargeSetsAreFittedOnceWithFewerTrees) {
  const Samples samples = synthetic_samples({.programs = 300});
  const auto once = trained(samples, {.max_refitted = 100});
  EXPECT_GT(once->file().quality.rank_correlation, 0.7);
  // 48,000 numbers, half of them for each tree.
  EXPECT_LE(trained(samples, {.max_work = 240'000})->file().forest.trees.size(), 10U);
  EXPECT_EQ(trained(samples, {.max_work = 1})->file().forest.trees.size(), 1U);
}

TEST(Xgboost, PredictsFromSeveralThreads) {
  const Samples samples = synthetic_samples({.programs = 200});
  for (const Evaluator evaluator : {Evaluator::OwnForest, Evaluator::Xgboost}) {
    const auto model = trained(samples, {.max_trees = 20, .evaluator = evaluator});
    const std::vector<float> expected = scores_of(*model, samples.inputs);
    std::vector<std::vector<float>> found(4);
    {
      std::vector<std::jthread> threads;
      for (std::vector<float>& scores : found) {
        threads.emplace_back([&] { scores = scores_of(*model, samples.inputs); });
      }
    }
    for (const std::vector<float>& scores : found) EXPECT_EQ(scores, expected);
  }
}

}  // namespace
}  // namespace tilewright::cost
