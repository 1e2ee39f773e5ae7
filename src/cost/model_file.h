// ModelFile: a learned model as one JSON object: the trees, the encoding that they read with its
// version and width, and a summary of the training data. If the encoding has another version now,
// its columns have other meanings: files over `features` are then rejected here, all others by the
// model (CostModel::check_inputs). Older files lack the encoding, which was `features`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cost/forest.h"
#include "cost/loss.h"
#include "cost/quality.h"
#include "feature/rows.h"

namespace tilewright::cost {

inline constexpr std::string_view kFeatures = "features";

struct ModelFile {
  std::string encoding{kFeatures};  // with its options
  int encoding_version = feature::kFeatureVersion;
  LossKind loss = LossKind::SquaredError;
  size_t programs = 0, failures = 0, groups = 0, rows = 0;  // sizes of the training data
  Quality quality;  // on held-out programs, before the last fit; programs == 0: none were held out
  Forest forest;
};

std::string print_model_file(const ModelFile& file);
Status save_model_file(const ModelFile& file, const std::filesystem::path& path);
// Errors name the path and the problem.
Result<ModelFile> load_model_file(const std::filesystem::path& path);

// `path` is for messages.
Result<ModelFile> parse_model_file(const std::string& text, const std::filesystem::path& path);

Json quality_to_json(const Quality& quality);

}  // namespace tilewright::cost
