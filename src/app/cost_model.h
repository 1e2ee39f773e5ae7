// summarize_cost_model: describes a saved cost model: its trees, its training data and the features
// it uses.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cost/model_file.h"  // IWYU pragma: export

namespace tilewright::app {

struct FeatureShare {
  size_t feature = 0;     // column of the encoding
  std::string name;       // from the feature table; of another encoding: `column 3`
  std::string_view what;  // empty: of another encoding
  double share = 0;       // share of the gain of all splits
  size_t splits = 0;
};

struct CostModelSummary {
  cost::ModelFile file;
  std::string_view objective;               // the name of file.loss
  size_t nodes = 0, leaves = 0, depth = 0;  // totals over its trees
  std::vector<FeatureShare> importance;     // features used by splits, largest gain first
};

Result<CostModelSummary> summarize_cost_model(const std::filesystem::path& path);

// The form of a model file.
Json quality_json(const cost::Quality& quality);

}  // namespace tilewright::app
