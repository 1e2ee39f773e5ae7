// summarize_cost_model: what a saved cost model is, was trained on, and looks at.
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
  std::string_view name, what;  // of the feature table
  double share = 0;             // of the gain of all splits
  size_t splits = 0;
};

struct CostModelSummary {
  cost::ModelFile file;
  size_t nodes = 0, leaves = 0, depth = 0;  // of its trees
  std::vector<FeatureShare> importance;     // features that are split, most gain first
};

Result<CostModelSummary> summarize_cost_model(const std::filesystem::path& path);

}  // namespace tilewright::app
