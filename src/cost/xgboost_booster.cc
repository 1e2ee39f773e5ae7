#include "cost/xgboost_booster.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/json.h"

namespace tilewright::cost {
namespace {

void must(int code) { CHECK(code == 0, "XGBoost: {}", XGBGetLastError()); }

std::string prediction_config(size_t trees, bool is_training) {
  return fmt::format(
      R"({{"type":1,"training":{},"iteration_begin":0,"iteration_end":{},"strict_shape":false,)"
      R"("missing":NaN,"cache_id":0}})",
      is_training, trees);
}

// One tree in XGBoost's format: arrays by node; thresholds and leaf values share one.
Tree read_tree(const Json& json) {
  const Json& left = json.at("left_children");
  const Json& right = json.at("right_children");
  const Json& feature = json.at("split_indices");
  const Json& value = json.at("split_conditions");
  const Json& gain = json.at("loss_changes");
  Tree tree(left.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    tree[i] = {.left = left[i].get<int32_t>(),
               .right = right[i].get<int32_t>(),
               .feature = feature[i].get<int32_t>(),
               .value = value[i].get<float>(),
               .gain = gain[i].get<float>()};
  }
  return tree;
}

}  // namespace

XgboostMatrix::XgboostMatrix(std::span<const float> values, size_t width)
    : rows_(width == 0 ? 0 : values.size() / width) {
  CHECK(rows_ > 0 && rows_ * width == values.size(), "{} numbers in rows of {}", values.size(),
        width);
  DMatrixHandle handle = nullptr;
  must(XGDMatrixCreateFromMat_omp(values.data(), rows_, width,
                                  std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  handle_ = std::shared_ptr<void>(handle, [](void* matrix) { XGDMatrixFree(matrix); });
}

XgboostBooster::XgboostBooster(const XgboostMatrix& matrix, const BoosterOptions& options)
    : matrix_(matrix) {
  bst_ulong width = 0;
  must(XGDMatrixNumCol(matrix_.handle_.get(), &width));
  width_ = width;
  BoosterHandle handle = nullptr;
  const DMatrixHandle matrices[] = {matrix_.handle_.get()};
  must(XGBoosterCreate(matrices, 1, &handle));
  handle_ = std::shared_ptr<void>(handle, [](void* booster) { XGBoosterFree(booster); });
  const auto set = [&](const char* name, const std::string& value) {
    must(XGBoosterSetParam(handle_.get(), name, value.c_str()));
  };
  set("verbosity", "0");
  set("nthread", "1");
  set("tree_method", "hist");
  set("max_bin", "32");
  set("base_score", "0");
  set("max_depth", std::to_string(options.depth));
  set("eta", fmt::format("{}", options.eta));
  set("lambda", fmt::format("{}", options.lambda));
  set("min_child_weight", fmt::format("{}", options.min_child_weight));
  set("colsample_bytree", fmt::format("{}", options.columns));
  set("seed", std::to_string(options.seed & 0x7fffffff));
}

void XgboostBooster::boost(std::span<float> gradient, std::span<float> hessian) {
  CHECK(gradient.size() == matrix_.rows() && hessian.size() == matrix_.rows(), "{} of {} rows",
        gradient.size(), matrix_.rows());
  must(XGBoosterBoostOneIter(handle_.get(), matrix_.handle_.get(), gradient.data(), hessian.data(),
                             gradient.size()));
}

std::span<const float> XgboostBooster::outputs() {
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* outputs = nullptr;
  must(XGBoosterPredictFromDMatrix(handle_.get(), matrix_.handle_.get(),
                                   prediction_config(0, true).c_str(), &shape, &dimensions,
                                   &outputs));
  return {outputs, matrix_.rows()};
}

Forest XgboostBooster::forest(size_t trees) const {
  bst_ulong size = 0;
  const char* text = nullptr;
  must(XGBoosterSaveModelToBuffer(handle_.get(), R"({"format":"json"})", &size, &text));
  const Result<Json> json = parse_json({text, size});
  CHECK(json.has_value(), "XGBoost wrote a model that is not JSON: {}", json.error().message);
  Forest forest{.width = width_, .trees = {}};
  for (const Json& tree : json->at("learner").at("gradient_booster").at("model").at("trees")) {
    if (forest.trees.size() == trees) break;
    forest.trees.push_back(read_tree(tree));
  }
  return forest;
}

void XgboostBooster::predict(std::span<const float> values, size_t trees,
                             std::span<float> outputs) const {
  if (outputs.empty()) return;
  const std::string array = fmt::format(
      R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
      reinterpret_cast<uintptr_t>(values.data()), outputs.size(), values.size() / outputs.size());
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* found = nullptr;
  must(XGBoosterPredictFromDense(handle_.get(), array.c_str(),
                                 prediction_config(trees, false).c_str(), nullptr, &shape,
                                 &dimensions, &found));
  std::copy_n(found, outputs.size(), outputs.data());
}

}  // namespace tilewright::cost
