// summarize_cost_model: describes a saved cost model: its trees, its training data and the features
// it uses.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/model_file.h"  // IWYU pragma: export

namespace tilewright::app {

struct FeatureShare {
  size_t feature = 0;
  std::string_view name, what;  // from the feature table
  double share = 0;             // share of the gain of all splits
  size_t splits = 0;
};

struct CostModelSummary {
  cost::ModelFile file;
  size_t nodes = 0, leaves = 0, depth = 0;  // totals over its trees
  std::vector<FeatureShare> importance;     // features used by splits, largest gain first
};

Result<CostModelSummary> summarize_cost_model(const std::filesystem::path& path);

}  // namespace tilewright::app
