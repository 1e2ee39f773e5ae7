// `tilewright model show FILE`: what a saved cost model is, was trained on, and looks at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/verb.h"
#include "cost/model_file.h"
#include "feature/rows.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string file;
  size_t features = 20;
};

struct Importance {
  size_t feature = 0;
  double share = 0;  // of the gain of all splits
  size_t splits = 0;
};

// Features that some tree splits, most gain first.
std::vector<Importance> importance_of(const cost::Forest& forest) {
  std::vector<Importance> all(forest.width);
  for (size_t i = 0; i < all.size(); ++i) all[i].feature = i;
  for (const cost::Tree& tree : forest.trees) {
    for (const cost::TreeNode& node : tree) {
      if (!node.is_leaf()) ++all[static_cast<size_t>(node.feature)].splits;
    }
  }
  const std::vector<double> gain = cost::gain_by_feature(forest);
  const double total = std::accumulate(gain.begin(), gain.end(), 0.0);
  for (size_t i = 0; i < all.size() && total > 0; ++i) all[i].share = gain[i] / total;
  std::erase_if(all, [](const Importance& one) { return one.splits == 0; });
  std::ranges::sort(all, {},
                    [](const Importance& one) { return std::pair(-one.share, one.feature); });
  return all;
}

struct Shape {
  size_t nodes = 0, leaves = 0, depth = 0;
};

Shape shape_of(const cost::Forest& forest) {
  Shape shape;
  for (const cost::Tree& tree : forest.trees) {
    shape.nodes += tree.size();
    shape.leaves += static_cast<size_t>(std::ranges::count_if(tree, &cost::TreeNode::is_leaf));
    shape.depth = std::max(shape.depth, cost::depth_of(tree));
  }
  return shape;
}

std::string to_text(const cost::ModelFile& file, size_t features) {
  const Shape shape = shape_of(file.forest);
  const std::vector<Importance> importance = importance_of(file.forest);
  std::string text = fmt::format(
      "objective   {}\ntrees       {} of depth {} at most, {} leaves\nfeatures    version {}, {} "
      "of "
      "{} used\ntrained on  {} programs ({} failed) of {} task{}, {} rows\n",
      cost::objective_name(file.objective), file.forest.trees.size(), shape.depth, shape.leaves,
      file.feature_version, importance.size(), file.forest.width, file.programs, file.failures,
      file.groups, file.groups == 1 ? "" : "s", file.rows);
  const cost::Quality& quality = file.quality;
  if (quality.programs == 0) {
    text += "held out    nothing: too few programs\n";
  } else {
    text += fmt::format(
        "held out    {} programs: rank correlation {:.3f}, pairs in order {:.1f} %, top-1 {:.2f}, "
        "top-5 {:.2f}\n",
        quality.programs, quality.rank_correlation, 100 * quality.pairwise_accuracy, quality.top1,
        quality.top5);
  }
  text += fmt::format("\n{:>8}{:>8}  {}\n", "gain %", "splits", "feature");
  for (size_t i = 0; i < std::min(features, importance.size()); ++i) {
    const feature::FeatureInfo& info = feature::feature_table()[importance[i].feature];
    text += fmt::format("{:>8.2f}{:>8}  {}: {}\n", 100 * importance[i].share, importance[i].splits,
                        info.name, info.what);
  }
  return text;
}

Json to_json(const cost::ModelFile& file) {
  const Shape shape = shape_of(file.forest);
  Json importance = Json::array();
  for (const Importance& one : importance_of(file.forest)) {
    importance.push_back({{"feature", feature::feature_table()[one.feature].name},
                          {"gain_share", one.share},
                          {"splits", one.splits}});
  }
  return {{"objective", cost::objective_name(file.objective)},
          {"feature_version", file.feature_version},
          {"trees", file.forest.trees.size()},
          {"depth", shape.depth},
          {"nodes", shape.nodes},
          {"leaves", shape.leaves},
          {"programs", file.programs},
          {"failures", file.failures},
          {"groups", file.groups},
          {"rows", file.rows},
          {"held_out_quality", cost::quality_to_json(file.quality)},
          {"importance", std::move(importance)}};
}

}  // namespace

Action declare_model(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.require_subcommand(1);
  CLI::App* const show =
      app.add_subcommand("show", "trees, what they were trained on, and which features they use");
  show->add_option("FILE", options->file, "a model that `tune --model FILE` saved")->required();
  show->add_option("--features", options->features, "how many features to list")
      ->capture_default_str();
  return [options](const Context& context) -> Result<ExitCode> {
    const Result<cost::ModelFile> file = cost::load_model_file(options->file);
    if (!file) return std::unexpected(file.error());
    print(context, to_text(*file, options->features), to_json(*file));
    return ExitCode::Done;
  };
}

}  // namespace tilewright::cli
