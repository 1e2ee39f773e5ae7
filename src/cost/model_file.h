// A learned model as a file: one JSON object with the trees, what the columns mean (version and
// number), and what it was trained on. Files of another feature version are refused: their columns
// mean something else.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cost/forest.h"
#include "cost/loss.h"
#include "cost/quality.h"
#include "feature/rows.h"

namespace tilewright::cost {

struct ModelFile {
  int feature_version = feature::kFeatureVersion;
  LossKind loss = LossKind::SquaredError;
  size_t programs = 0, failures = 0, groups = 0, rows = 0;  // trained on
  Quality quality;  // of the held-out programs, before the last fit; programs 0: there were none
  Forest forest;
};

std::string print_model_file(const ModelFile& file);
Status save_model_file(const ModelFile& file, const std::filesystem::path& path);
// Errors name the path and what is wrong with it.
Result<ModelFile> load_model_file(const std::filesystem::path& path);

// `path` is for messages.
Result<ModelFile> parse_model_file(const std::string& text, const std::filesystem::path& path);

Json quality_to_json(const Quality& quality);

}  // namespace tilewright::cost
