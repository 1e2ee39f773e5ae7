#include "cost/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "cost/synthetic_testing.h"
#include "cost/xgboost_model.h"
#include "feature/rows_table.h"

namespace tilewright::cost {
namespace {

// A private path, removed at the end.
class ModelFiles : public testing::Test {
 protected:
  // Saves a model, then writes its text with `from` replaced by `to`; the message of reading that.
  std::string message_after(const std::string& from, const std::string& to) {
    std::string text = read_file(path_).value();
    const size_t at = text.find(from);
    CHECK(at != std::string::npos, "no {}", from);
    text.replace(at, from.size(), to);
    const std::filesystem::path other = path_.string() + ".changed";
    CHECK(write_file_atomically(other, text).has_value());
    const Result<ModelFile> file = load_model_file(other);
    std::filesystem::remove(other);
    if (file) return "it was read";
    const std::string start = other.string() + ": not a usable cost model: ";
    EXPECT_TRUE(file.error().message.starts_with(start)) << file.error().message;
    EXPECT_EQ(file.error().kind, ErrorKind::BadInput);
    return file.error().message.substr(std::min(start.size(), file.error().message.size()));
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-model-").value();
  const std::filesystem::path path_ = folder_ / "model.json";
};

Samples some_samples() {
  return synthetic_samples(
      {.programs = 80, .width = feature::feature_count(), .failure_share = 0.5});
}

TEST_F(ModelFiles, RoundTrips) {
  const Samples samples = some_samples();
  XgboostModel model({.max_trees = 20});
  ASSERT_TRUE(model.train(samples).has_value());
  ASSERT_TRUE(save_model_file(model.file(), path_).has_value());
  const Result<ModelFile> file = load_model_file(path_);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->forest, model.file().forest);
  EXPECT_EQ(file->loss, model.file().loss);
  EXPECT_EQ(file->programs, 80U);
  EXPECT_EQ(file->failures, model.file().failures);
  EXPECT_EQ(file->rows, 320U);
  EXPECT_DOUBLE_EQ(file->quality.rank_correlation, model.file().quality.rank_correlation);

  const XgboostModel loaded({}, *file);
  EXPECT_EQ(scores_of(model, samples.inputs), scores_of(loaded, samples.inputs));
}

// Files of the version that did not name the encoding.
TEST_F(ModelFiles, ReadsOlderFiles) {
  XgboostModel model({.max_trees = 3});
  ASSERT_TRUE(model.train(some_samples()).has_value());
  ASSERT_TRUE(save_model_file(model.file(), path_).has_value());
  const std::string now =
      fmt::format("\"encoding\":\"features\",\"encoding_version\":{}", feature::kFeatureVersion);
  const auto older = [](int version) { return fmt::format("\"feature_version\":{}", version); };
  EXPECT_EQ(message_after(now, older(feature::kFeatureVersion)), "it was read");
  EXPECT_EQ(
      message_after(now, older(feature::kFeatureVersion - 1)),
      fmt::format("its features are of version {}, this program's of version {}: train it again",
                  feature::kFeatureVersion - 1, feature::kFeatureVersion));
}

TEST_F(ModelFiles, NameTheirEncoding) {
  Samples samples = synthetic_samples({.programs = 80, .width = 12});
  samples.inputs[0].version = 7;
  XgboostModel model({.max_trees = 3, .encoding = {"mine:a=1"}});
  ASSERT_TRUE(model.train(samples).has_value());
  ASSERT_TRUE(save_model_file(model.file(), path_).has_value());
  const Result<ModelFile> file = load_model_file(path_);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->encoding, "mine:a=1");
  EXPECT_EQ(file->encoding_version, 7);
  const XgboostModel loaded({}, *file);
  EXPECT_EQ(loaded.encodings(), std::vector<std::string>{"mine:a=1"});
  EXPECT_EQ(scores_of(model, samples.inputs), scores_of(loaded, samples.inputs));
}

TEST_F(ModelFiles, RejectsUnusableModels) {
  XgboostModel model({.max_trees = 3});
  ASSERT_TRUE(model.train(some_samples()).has_value());
  ASSERT_TRUE(save_model_file(model.file(), path_).has_value());
  const std::string version = fmt::format("\"encoding_version\":{}", feature::kFeatureVersion);
  EXPECT_EQ(message_after(version, "\"encoding_version\":99999999999"), "its version is too large");
  EXPECT_EQ(message_after(version, "\"encoding_version\":999"),
            fmt::format("its features are of version 999, this program's of version {}: train it "
                        "again",
                        feature::kFeatureVersion));
  const std::string width = fmt::format("\"width\":{}", feature::feature_count());
  EXPECT_EQ(
      message_after(width, "\"width\":100000"),
      fmt::format("its rows have 100000 numbers, this program's {}", feature::feature_count()));
  EXPECT_EQ(message_after("tilewright cost model", "some other thing"),
            "it is another kind of file");
  EXPECT_EQ(message_after("pairwise_rank", "hope"),
            "there is no loss 'hope'; there are squared_error and pairwise_rank");
  EXPECT_EQ(message_after("\"trained_on\"", "\"trained\""),
            "trained_on, held_out_quality or forest is missing");
  EXPECT_EQ(message_after("\"programs\":80", "\"programs\":-80"), "'programs' is negative");
}

TEST_F(ModelFiles, RejectsEveryTruncation) {
  XgboostModel model({.max_trees = 2});
  ASSERT_TRUE(model.train(some_samples()).has_value());
  ASSERT_TRUE(save_model_file(model.file(), path_).has_value());
  const std::string text = read_file(path_).value();
  for (size_t size = 0; size + 2 < text.size(); size += 97) {
    ASSERT_TRUE(write_file_atomically(path_, text.substr(0, size)).has_value());
    EXPECT_FALSE(load_model_file(path_).has_value()) << size;
  }
  std::filesystem::remove(path_);
  EXPECT_EQ(load_model_file(path_).error().kind, ErrorKind::Io);
}

}  // namespace
}  // namespace tilewright::cost
