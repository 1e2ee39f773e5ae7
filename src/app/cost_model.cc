#include "app/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/json.h"
#include "feature/rows_table.h"

namespace tilewright::app {
namespace {

// Columns used by splits, largest gain first.
std::vector<FeatureShare> importance_of(const cost::ModelFile& file) {
  const cost::Forest& forest = file.forest;
  std::vector<FeatureShare> all(forest.width);
  for (size_t i = 0; i < all.size(); ++i) all[i].feature = i;
  for (const cost::Tree& tree : forest.trees) {
    for (const cost::TreeNode& node : tree) {
      if (!node.is_leaf()) ++all[static_cast<size_t>(node.feature)].splits;
    }
  }
  const std::vector<double> gain = cost::gain_by_feature(forest);
  const double total = std::accumulate(gain.begin(), gain.end(), 0.0);
  for (size_t i = 0; i < all.size() && total > 0; ++i) all[i].share = gain[i] / total;
  std::erase_if(all, [](const FeatureShare& one) { return one.splits == 0; });
  for (FeatureShare& one : all) {
    one.name = fmt::format("column {}", one.feature);
    if (file.encoding != cost::kFeatures) continue;
    const feature::FeatureInfo& info = feature::feature_table()[one.feature];
    one.name = info.name;
    one.what = info.what;
  }
  std::ranges::sort(all, {},
                    [](const FeatureShare& one) { return std::pair(-one.share, one.feature); });
  return all;
}

}  // namespace

Result<CostModelSummary> summarize_cost_model(const std::filesystem::path& path) {
  CostModelSummary summary;
  summary.file = TRY(cost::load_model_file(path));
  summary.objective = cost::loss_name(summary.file.loss);
  for (const cost::Tree& tree : summary.file.forest.trees) {
    summary.nodes += tree.size();
    summary.leaves += static_cast<size_t>(std::ranges::count_if(tree, &cost::TreeNode::is_leaf));
    summary.depth = std::max(summary.depth, cost::depth_of(tree));
  }
  summary.importance = importance_of(summary.file);
  return summary;
}

Json quality_json(const cost::Quality& quality) { return cost::quality_to_json(quality); }

}  // namespace tilewright::app
