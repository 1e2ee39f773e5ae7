// XgboostModel: boosted trees over feature rows; the score of a program is the sum over its rows.
// The number of trees is chosen on held-out programs. XGBoost trains, ForestScorer scores.
//
//   auto model = make_xgboost({.seed = 1});
//   model->train(samples);                       // all samples each time
//   model->predict(inputs, {.mean = scores});    // from any thread, not while training
//   write_file_atomically("c2d2.model", TRY(model->file_text()));
#pragma once

#include <memory>
#include <optional>

#include "cost/forest_scorer.h"
#include "cost/loss.h"
#include "cost/model_file.h"
#include "cost/models.h"

namespace tilewright::cost {

class XgboostBooster;

enum class Evaluator : uint8_t { OwnForest, Xgboost };
std::span<const std::string_view> option_words(Evaluator);

struct XgboostOptions {
  LossKind loss = LossKind::PairwiseRank;
  int depth = 6;
  double eta = 0.25;
  double columns = 0.5;  // share of the columns that each tree may split
  // Minimum hessian of a leaf; a row of a typical program has 1 or more.
  double min_child_weight = 4;
  size_t max_trees = 80;
  double max_work = 5e7;    // limit of rows x columns x trees: fewer trees for many samples
  size_t patience = 10;     // trees without improvement on held-out programs
  size_t min_held_out = 8;  // with fewer held-out programs, the number of trees is fixed
  size_t trees_without_test = 30;
  // With more programs, there is no second fit that includes the held-out ones.
  size_t max_refitted = 1000;
  double failure_weight = 0.3;  // of a label 0; the fastest program has weight 1
  Evaluator evaluator = Evaluator::OwnForest;
  NestedSelection encoding{"features"};  // the encoding that it reads
  uint64_t seed = 1;                     // from the context, if a table creates the model

  static constexpr auto fields() {
    using X = XgboostOptions;
    return std::tuple(
        option("loss", &X::loss, "loss to fit: pairwise_rank or squared_error"),
        option("depth", &X::depth, "levels of a tree", {1, 16}),
        option("eta", &X::eta, "learning rate", {1e-6, 1}),
        option("columns", &X::columns, "share of the columns that a tree may split", {1e-6, 1}),
        option("min_child_weight", &X::min_child_weight, "smallest hessian of a leaf", {0, 1e9}),
        option("max_trees", &X::max_trees, "largest number of trees", {1, 100'000}, "most_trees"),
        option("max_work", &X::max_work, "largest rows x columns x trees", {1, 1e15}, "most_work"),
        option("patience", &X::patience, "trees without gain on held-out programs", {1, 100'000}),
        option("min_held_out", &X::min_held_out, "fewest programs to hold out", {},
               "least_held_out"),
        option("trees_without_test", &X::trees_without_test,
               "trees if too few programs are held out", {1, 100'000}),
        option("max_refitted", &X::max_refitted, "programs above which one fit is enough", {},
               "most_refitted"),
        option("failure_weight", &X::failure_weight, "weight of a failed program", {0, 1e6}),
        option("evaluator", &X::evaluator, "predictor: own_forest or xgboost"),
        option("encoding", &X::encoding, "encoding of a program that it reads"));
  }
};

class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(const XgboostOptions& options) : options_(options) {
    file_.encoding = options.encoding.text;
  }
  // A trained model from a file, over the encoding of the file; further training adds trees to it.
  XgboostModel(const XgboostOptions& options, ModelFile base);

  Status train(const Samples& samples) override;
  bool is_trained() const override { return !file_.forest.trees.empty(); }
  std::vector<std::string> encodings() const override { return {options_.encoding.text}; }
  bool learns() const override { return true; }
  void predict(const feature::Inputs& inputs, const Predictions& out) const override;
  bool has_file() const override { return true; }
  Status check_inputs(const feature::Inputs& inputs) const override;
  Result<std::string> file_text() const override;
  std::unique_ptr<CostModel> fork(uint64_t seed) const override;

  // The learned state and a summary of its training data.
  const ModelFile& file() const { return file_; }

 private:
  XgboostOptions options_;
  Forest base_;  // initial trees; may be empty
  ModelFile file_;
  ForestScorer scorer_;
  // Of this training, over a subset of the columns, for Evaluator::Xgboost.
  std::shared_ptr<const XgboostBooster> booster_;
  std::vector<uint32_t> columns_;
};

std::unique_ptr<XgboostModel> make_xgboost(const XgboostOptions& options = {});

ModelRow xgboost_model();
ModelRow xgboost_squared_model();

}  // namespace tilewright::cost
