// `tilewright model show`: its output for model files, and its errors for other files.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "cli/run_testing.h"
#include "cost/model_file.h"
#include "feature/rows_table.h"

namespace tilewright::cli {
namespace {

class ModelShow : public testing::Test {
 protected:
  ModelShow() {
    const cost::Forest forest{
        .width = feature::feature_count(),
        .trees = {{{.left = 1, .right = 2, .feature = 7, .value = 2, .gain = 3}, {}, {}},
                  {{.left = 1, .right = 2, .feature = 3, .value = 2, .gain = 1}, {}, {}}}};
    const cost::ModelFile file{.loss = cost::LossKind::PairwiseRank,
                               .programs = 64,
                               .failures = 5,
                               .groups = 1,
                               .rows = 200,
                               .quality = {.programs = 12, .rank_correlation = 0.75},
                               .forest = forest};
    CHECK(cost::save_model_file(file, path_).has_value());
  }

  const TemporaryFolder folder_ = make_scratch_folder("tilewright-model-show-").value();
  const std::filesystem::path path_ = folder_ / "model.json";
};

TEST_F(ModelShow, ListsFeaturesByImportance) {
  const Outcome ran = tilewright({"model", "show", path_.string()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string first(feature::feature_table()[7].name);
  const std::string second(feature::feature_table()[3].name);
  EXPECT_NE(ran.out.find("64 programs (5 failed) of 1 task, 200 rows"), std::string::npos);
  EXPECT_NE(ran.out.find("2 of depth 1 at most, 4 leaves"), std::string::npos);
  EXPECT_NE(ran.out.find("75.00       1  " + first + ": "), std::string::npos) << ran.out;
  EXPECT_LT(ran.out.find(first + ": "), ran.out.find(second + ": "));
  EXPECT_EQ(
      tilewright({"model", "show", path_.string(), "--features", "1"}).out.find(second + ": "),
      std::string::npos);
}

TEST_F(ModelShow, TextAndJsonAgree) {
  const Outcome ran = tilewright({"model", "show", path_.string(), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Result<Json> json = parse_json(ran.out);
  ASSERT_TRUE(json.has_value()) << ran.out;
  EXPECT_EQ(json->at("trees"), 2);
  EXPECT_EQ(json->at("objective"), "pairwise_rank");
  EXPECT_EQ(json->at("importance").size(), 2U);
  EXPECT_EQ(json->at("importance")[0].at("gain_share"), 0.75);
  EXPECT_EQ(json->at("held_out_quality").at("rank_correlation"), 0.75);
}

TEST_F(ModelShow, RejectsBadFilesWithOneMessage) {
  const std::string text = read_file(path_).value();
  for (const std::string& bad : {text.substr(0, text.size() / 2), std::string("[1, 2]"),
                                 std::string(), std::string("\xff\x00\x01", 3)}) {
    ASSERT_TRUE(write_file_atomically(path_, bad).has_value());
    const Outcome ran = tilewright({"model", "show", path_.string()});
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("not a usable cost model"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  std::filesystem::remove(path_);
  EXPECT_EQ(tilewright({"model", "show", path_.string()}).code, 2);
  EXPECT_EQ(tilewright({"model"}).code, 2);
}

}  // namespace
}  // namespace tilewright::cli
