#include "cost/xgboost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"
#include "cost/training_set.h"
#include "cost/xgboost_booster.h"

namespace tilewright::cost {
namespace {

// Adds trees one by one to a booster over a training set.
class Fit {
 public:
  // `offsets`: output of the base trees for each program.
  Fit(const TrainingSet& set, const XgboostMatrix& matrix, const BoosterOptions& options,
      std::span<const float> offsets)
      : set_(set),
        offsets_(offsets),
        booster_(std::make_shared<XgboostBooster>(matrix, options)),
        scores_(offsets.begin(), offsets.end()),
        gradient_(set.programs()),
        hessian_(set.programs()),
        row_gradient_(matrix.rows()),
        row_hessian_(matrix.rows()) {}

  void add_tree(const Loss& loss) {
    std::ranges::fill(gradient_, 0.0F);
    std::ranges::fill(hessian_, 0.0F);
    loss.add_gradients(scores_, gradient_, hessian_);
    for (size_t program = 0; program < set_.programs(); ++program) {
      const uint32_t first = set_.begin[program], end = set_.begin[program + 1];
      // Rows of a program in the same leaf move its score together: up to their number times as far
      // as each alone. The square root is a compromise between too long and too short a step.
      const float together = std::sqrt(static_cast<float>(end - first));
      for (uint32_t row = first; row < end; ++row) {
        row_gradient_[row] = gradient_[program];
        row_hessian_[row] = hessian_[program] * together;
      }
    }
    booster_->boost(row_gradient_, row_hessian_);
    sum_rows(set_.begin, booster_->outputs(), scores_);
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += offsets_[i];
  }

  std::span<const float> scores() const { return scores_; }
  std::shared_ptr<const XgboostBooster> booster() const { return booster_; }

 private:
  const TrainingSet& set_;
  std::span<const float> offsets_;
  std::shared_ptr<XgboostBooster> booster_;
  std::vector<float> scores_, gradient_, hessian_, row_gradient_, row_hessian_;
};

Quality held_out_quality(const Samples& samples, const TrainingSet& set,
                         std::span<const float> scores) {
  std::vector<float> given;
  std::vector<double> latency;
  // Only the first group: latencies of different tasks are not comparable.
  for (const uint32_t i : set.held_out) {
    if (samples.group[i] != samples.group[set.held_out.front()]) continue;
    given.push_back(scores[i]);
    latency.push_back(samples.latency_ns[i]);
  }
  return quality_of(given, latency);
}

struct Fitted {
  std::shared_ptr<const XgboostBooster> booster;
  size_t trees = 0;  // the first ones of the booster
  Quality quality;   // on held-out programs
};

// Fits the programs that are not held out, until the held-out ones stop improving.
Fitted fit_with_test(const Samples& samples, const TrainingSet& set, const XgboostMatrix& matrix,
                     const BoosterOptions& booster, const XgboostOptions& options,
                     std::span<const float> offsets) {
  const auto training = make_loss(options.loss, set.labels, set.training, options.seed);
  const auto test = make_loss(options.loss, set.labels, set.held_out, options.seed);
  const double work = static_cast<double>(set.values.size()) * options.columns;
  const size_t tree_limit =
      std::clamp<size_t>(static_cast<size_t>(options.max_work / work), 1, options.max_trees);
  Fit fit(set, matrix, booster, offsets);
  Fitted fitted{.booster = fit.booster(), .quality = {}};
  double min_loss = std::numeric_limits<double>::infinity();
  for (size_t trees = 1; trees <= tree_limit; ++trees) {
    fit.add_tree(*training);
    const double loss = test->value(fit.scores());
    if (loss < min_loss) {
      min_loss = loss;
      fitted.trees = trees;
      fitted.quality = held_out_quality(samples, set, fit.scores());
    } else if (trees >= fitted.trees + options.patience) {
      break;
    }
  }
  return fitted;
}

// With or without held-out programs; the final fit uses all programs, unless there are very many.
Fitted fit_all(const Samples& samples, const TrainingSet& set, const XgboostOptions& options,
               std::span<const float> offsets) {
  const BoosterOptions booster{.depth = options.depth,
                               .eta = options.eta,
                               .columns = options.columns,
                               .min_child_weight = options.min_child_weight,
                               .seed = options.seed};
  const XgboostMatrix matrix(set.values, set.columns.size());
  Fitted fitted{.booster = nullptr, .trees = options.trees_without_test, .quality = {}};
  if (set.held_out.size() >= options.min_held_out) {
    fitted = fit_with_test(samples, set, matrix, booster, options, offsets);
    if (set.programs() > options.max_refitted) return fitted;
  }
  const auto loss = make_loss(options.loss, set.labels, set.everyone, options.seed);
  Fit fit(set, matrix, booster, offsets);
  for (size_t i = 0; i < fitted.trees; ++i) fit.add_tree(*loss);
  fitted.booster = fit.booster();
  return fitted;
}

}  // namespace

XgboostModel::XgboostModel(const XgboostOptions& options, ModelFile base)
    : options_(options), base_(base.forest), file_(std::move(base)), scorer_(file_.forest) {
  options_.loss = file_.loss;  // scores of the two losses cannot be added
  options_.encoding.text = file_.encoding;
}

Status XgboostModel::train(const Samples& samples) {
  CHECK(samples.inputs.size() == 1 || samples.size() == 0, "{} encodings for trees",
        samples.inputs.size());
  const size_t rows = samples.size() > 0 ? samples.inputs.front().rows() : 0;
  const bool has_success =
      std::ranges::any_of(samples.latency_ns, [](double latency) { return latency > 0; });
  if (samples.size() < 2 || rows == 0 || !has_success) return {};  // nothing to compare
  const feature::Encoded& input = samples.inputs.front();
  const TrainingSet set = TRY(make_training_set(samples, options_.failure_weight));
  if (set.columns.empty()) return {};
  const size_t width = input.width;

  std::vector<float> offsets(set.programs());
  if (!base_.trees.empty()) {
    CHECK(base_.width == width, "base over rows of {}, samples of {}", base_.width, width);
    std::vector<float> row_scores(rows);
    ForestScorer(base_).score(input.values.data(), row_scores);
    sum_rows(set.begin, row_scores, offsets);
  }

  const Fitted fitted = fit_all(samples, set, options_, offsets);
  booster_ = fitted.booster;
  columns_ = set.columns;
  Forest forest = booster_->forest(fitted.trees);
  rename_columns(columns_, width, &forest);
  forest.trees.insert(forest.trees.begin(), base_.trees.begin(), base_.trees.end());
  file_ = {.encoding = options_.encoding.text,
           .encoding_version = input.version,
           .loss = options_.loss,
           .programs = samples.size(),
           .failures = static_cast<size_t>(std::ranges::count(samples.latency_ns, 0.0)),
           .groups = std::set<uint32_t>(samples.group.begin(), samples.group.end()).size(),
           .rows = rows,
           .quality = fitted.quality,
           .forest = std::move(forest)};
  scorer_ = ForestScorer(file_.forest);
  return {};
}

void XgboostModel::predict(const feature::Inputs& inputs, const Predictions& out) const {
  const feature::Encoded& rows = inputs.front();
  const std::span<float> scores = out.mean;
  CHECK(scores.size() == rows.programs(), "{} scores of {}", scores.size(), rows.programs());
  CHECK(rows.values.size() == rows.begin.back() * file_.forest.width || !is_trained(),
        "{} numbers in {} rows, trees over {}", rows.values.size(), rows.begin.back(),
        file_.forest.width);
  std::vector<float> row_scores(rows.begin.back());
  if (options_.evaluator == Evaluator::Xgboost && booster_ != nullptr && base_.trees.empty()) {
    std::vector<float> values;
    values.reserve(row_scores.size() * columns_.size());
    for (size_t row = 0; row < rows.values.size(); row += file_.forest.width) {
      for (const uint32_t column : columns_) values.push_back(rows.values[row + column]);
    }
    booster_->predict(values, file_.forest.trees.size(), row_scores);
  } else {
    scorer_.score(rows.values.data(), row_scores);
  }
  sum_rows(rows.begin, row_scores, scores);
}

Status XgboostModel::check_inputs(const feature::Inputs& inputs) const {
  if (!is_trained()) return {};
  const feature::Encoded& now = inputs.at(0);
  if (now.width == file_.forest.width && now.version == file_.encoding_version) return {};
  return fail(ErrorKind::BadInput,
              fmt::format("the trees read rows of {} numbers of the encoding {}, version {}; here "
                          "the rows have {} numbers, version {}: train the model again",
                          file_.forest.width, file_.encoding, file_.encoding_version, now.width,
                          now.version));
}

Result<std::string> XgboostModel::file_text() const {
  if (!is_trained()) return fail(ErrorKind::Unsupported, "the cost model has learned nothing yet");
  return print_model_file(file_);
}

std::unique_ptr<CostModel> XgboostModel::fork(uint64_t seed) const {
  XgboostOptions options = options_;
  options.seed = seed;
  return std::make_unique<XgboostModel>(options, file_);
}

std::unique_ptr<XgboostModel> make_xgboost(const XgboostOptions& options) {
  return std::make_unique<XgboostModel>(options);
}

std::span<const std::string_view> option_words(Evaluator) {
  static constexpr std::array<std::string_view, 2> kWords = {"own_forest", "xgboost"};
  return kWords;
}

namespace {

Result<std::unique_ptr<CostModel>> make_model(const ModelContext& context, XgboostOptions options) {
  options.seed = context.seed;
  if (context.base == nullptr) return std::make_unique<XgboostModel>(options);
  ModelFile file = TRY(parse_model_file(context.base->text, context.base->path));
  std::string of_file = file.loss == LossKind::SquaredError ? "xgboost-squared" : "xgboost";
  if (file.encoding != kFeatures) {
    of_file += ":encoding=" + option_text::print(NestedSelection{file.encoding});
  }
  if (file.loss != options.loss || options.encoding.text != file.encoding) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: trained by {}; use it with the cost model {}", context.base->path,
                            loss_name(file.loss), of_file),
                {{"cost", of_file}});
  }
  return std::make_unique<XgboostModel>(options, std::move(file));
}

}  // namespace

ModelRow xgboost_model() {
  return make_row<std::unique_ptr<CostModel>, ModelContext>(
      "xgboost", "boosted trees, fitted to the order of programs", XgboostOptions{}, make_model);
}

ModelRow xgboost_squared_model() {
  return make_row<std::unique_ptr<CostModel>, ModelContext>(
      "xgboost-squared", "boosted trees, fitted to throughputs by squared error",
      XgboostOptions{.loss = LossKind::SquaredError}, make_model);
}

}  // namespace tilewright::cost
