// XgboostModel: boosted trees over rows; the score of a program is the sum over its rows. The
// number of trees is what serves held-out programs best, never what fits the training programs.
// Training is by XGBoost, scoring by ForestScorer.
//
//   auto model = make_xgboost({.seed = 1});
//   model->train(samples);                       // all samples each time
//   model->predict(rows, scores);                // from any thread, not while training
//   save_model_file(model->file(), "c2d2.model");
#pragma once

#include <memory>
#include <optional>

#include "cost/forest_scorer.h"
#include "cost/model.h"
#include "cost/model_file.h"
#include "cost/objective.h"

namespace tilewright::cost {

class XgboostBooster;

enum class Evaluator { OwnForest, Xgboost };

struct XgboostOptions {
  ObjectiveKind objective = ObjectiveKind::PairwiseRank;
  int depth = 6;
  double eta = 0.25;
  double columns = 0.5;         // share of the columns that each tree may split
  double min_child_weight = 4;  // hessian; a row of a typical program has 1 or more
  size_t most_trees = 80;
  double most_work = 5e7;     // rows x columns x trees: fewer trees for many samples
  size_t patience = 10;       // trees without gain on held-out programs
  size_t least_held_out = 8;  // with fewer to hold out, a fixed number of trees
  size_t trees_without_test = 30;
  size_t most_refitted = 1000;  // programs; above, the held-out ones are not worth a second fit
  double failure_weight = 0.3;  // of a label 0; the fastest program weighs 1
  Evaluator evaluator = Evaluator::OwnForest;
  uint64_t seed = 1;
};

class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(const XgboostOptions& options) : options_(options) {}
  // A trained model from a file, or training that goes on from one: new trees are added to its.
  XgboostModel(const XgboostOptions& options, ModelFile base);

  std::string_view name() const override { return "xgboost"; }
  Status train(const Samples& samples) override;
  bool is_trained() const override { return !file_.forest.trees.empty(); }
  void predict(const feature::RowBatch& rows, std::span<float> scores) const override;

  // What it has learned, and from what.
  const ModelFile& file() const { return file_; }

 private:
  XgboostOptions options_;
  Forest base_;  // trees to go on from; may be none
  ModelFile file_;
  ForestScorer scorer_;
  // For Evaluator::Xgboost, of what was trained here: over some of the columns.
  std::shared_ptr<const XgboostBooster> booster_;
  std::vector<uint32_t> columns_;
};

std::unique_ptr<XgboostModel> make_xgboost(const XgboostOptions& options = {});

}  // namespace tilewright::cost
