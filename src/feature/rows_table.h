// The table of features: the name and the meaning of each number of a row, in the order of
// feature/rows_layout.h. docs/features.md is generated from it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tilewright::feature {

struct FeatureInfo {
  std::string_view name;  // `float_mad`, `access0.unique_bytes`
  std::string_view what;  // one sentence
};

std::span<const FeatureInfo> feature_table();
size_t feature_count();

}  // namespace tilewright::feature
