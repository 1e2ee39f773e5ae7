#include "cost/models.h"

#include <gtest/gtest.h>

#include "cost/plain_models.h"
#include "cost/synthetic_testing.h"
#include "feature/rows_table.h"

namespace tilewright::cost {
namespace {

std::unique_ptr<CostModel> made(std::string_view text, uint64_t seed = 1) {
  const Target target = host_target(1);
  const Machine machine;
  const Result<Selection> selection = models().parse(text);
  CHECK(selection.has_value(), "{}", selection.error().message);
  auto model = models().make(
      *selection, {.target = &target, .machine = &machine, .seed = seed, .base = nullptr});
  CHECK(model.has_value(), "{}", model.error().message);
  return *std::move(model);
}

TEST(Models, OptionsReachTheModel) {
  const Samples samples = synthetic_samples({.programs = 200});
  const auto trees = [&](std::string_view text) {
    const auto model = made(text);
    CHECK(model->train(samples).has_value());
    return scores_of(*model, samples.inputs);
  };
  EXPECT_EQ(trees("xgboost:max_trees=5"), trees("xgboost:max_trees=5"));
  EXPECT_NE(trees("xgboost:max_trees=5"), trees("xgboost:max_trees=6"));
  EXPECT_EQ(trees("xgboost:loss=squared_error,depth=3"), trees("xgboost-squared:depth=3"));
  EXPECT_EQ(models().parse("xgboost-squared:loss=squared_error").value().text(), "xgboost-squared");
  EXPECT_EQ(models().parse("xgboost:eta=2").error().message,
            "xgboost: eta=2: it must be a number from 1e-06 to 1");
}

TEST(Models, EachNamesItsEncodings) {
  EXPECT_EQ(made("none"), nullptr);
  for (const char* name : {"xgboost", "xgboost-squared", "analytic", "random"}) {
    EXPECT_EQ(made(name)->encodings(), std::vector<std::string>{"features"}) << name;
    EXPECT_FALSE(made(name)->has_spread());
  }
  EXPECT_EQ(made("xgboost:encoding=knobs")->encodings(), std::vector<std::string>{"knobs"});
  EXPECT_TRUE(made("xgboost")->has_file());
  EXPECT_TRUE(made("xgboost-squared")->has_file());
  EXPECT_TRUE(made("xgboost:encoding=knobs")->has_file());
  EXPECT_FALSE(made("analytic")->has_file());
  EXPECT_TRUE(made("xgboost")->learns());
  EXPECT_FALSE(made("analytic")->learns());
  EXPECT_TRUE(made("analytic")->is_trained());
  EXPECT_FALSE(made("random")->is_trained());
}

TEST(Models, ContinueTrainingFromAFile) {
  const Samples samples = synthetic_samples({.programs = 100, .width = feature::feature_count()});
  const auto model = made("xgboost:max_trees=9");
  EXPECT_EQ(model->file_text().error().message, "the cost model has learned nothing yet");
  ASSERT_TRUE(model->train(samples).has_value());
  const ModelText file{.path = "some.model", .text = model->file_text().value()};
  const auto load = [&](std::string_view text) {
    return models().make(models().parse(text).value(),
                         {.target = nullptr, .machine = nullptr, .seed = 1, .base = &file});
  };
  const std::unique_ptr<CostModel> loaded = load("xgboost").value();
  EXPECT_EQ(scores_of(*loaded, samples.inputs), scores_of(*model, samples.inputs));
  const std::unique_ptr<CostModel> forked = loaded->fork(7);
  EXPECT_EQ(scores_of(*forked, samples.inputs), scores_of(*model, samples.inputs));
  ASSERT_TRUE(forked->train(samples).has_value());
  EXPECT_NE(scores_of(*forked, samples.inputs), scores_of(*loaded, samples.inputs));
  EXPECT_EQ(load("xgboost-squared").error().message,
            "some.model: trained by pairwise_rank; use it with the cost model xgboost");
  EXPECT_EQ(load("xgboost:encoding=mine").error().message,
            "some.model: trained by pairwise_rank; use it with the cost model xgboost");
  EXPECT_EQ(load("analytic").error().message,
            "some.model: the cost model analytic cannot start from a file");
  EXPECT_EQ(made("analytic")->file_text().error().message,
            "this cost model cannot be written to a file");
}

TEST(Models, AFileIsOfOneEncodingInOneVersion) {
  Samples samples = synthetic_samples({.programs = 100, .width = 12});
  samples.inputs[0].version = 3;
  const auto model = made("xgboost:encoding=mine:a=1/b=2");
  ASSERT_TRUE(model->train(samples).has_value());
  const ModelText file{.path = "some.model", .text = model->file_text().value()};
  const auto load = [&](std::string_view text) {
    return models().make(models().parse(text).value(),
                         {.target = nullptr, .machine = nullptr, .seed = 1, .base = &file});
  };
  EXPECT_EQ(load("xgboost").error().message,
            "some.model: trained by pairwise_rank; use it with the cost model "
            "xgboost:encoding=mine:a=1/b=2");
  const std::unique_ptr<CostModel> loaded = load("xgboost:encoding=mine:a=1/b=2").value();
  EXPECT_EQ(loaded->encodings(), std::vector<std::string>{"mine:a=1,b=2"});
  EXPECT_EQ(scores_of(*loaded, samples.inputs), scores_of(*model, samples.inputs));
  EXPECT_TRUE(loaded->check_inputs({{.width = 12, .version = 3}}));
  EXPECT_EQ(loaded->check_inputs({{.width = 12, .version = 4}}).error().message,
            "the trees read rows of 12 numbers of the encoding mine:a=1,b=2, version 3; here the "
            "rows have 12 numbers, version 4: train the model again");
  EXPECT_FALSE(loaded->check_inputs({{.width = 13, .version = 3}}));
  EXPECT_TRUE(made("xgboost")->check_inputs({{.width = 12, .version = 4}}));  // not trained
}

TEST(PlainModels, RandomScoresFollowFromFeaturesAndSeed) {
  const feature::Inputs inputs = {
      {.width = 2, .values = {1, 2, 3, 4, 1, 2}, .begin = {0, 1, 2, 3}}};
  const std::vector<float> first = scores_of(*make_random_model(7), inputs);
  EXPECT_EQ(first, scores_of(*make_random_model(7), inputs));
  EXPECT_EQ(first[0], first[2]);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], scores_of(*make_random_model(8), inputs)[0]);
  for (const float score : first) {
    EXPECT_GE(score, 0);
    EXPECT_LT(score, 1);
  }
}

}  // namespace
}  // namespace tilewright::cost
