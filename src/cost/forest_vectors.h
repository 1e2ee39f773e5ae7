// The vector form of ForestScorer (cost/forest_scorer.h says how it works).
#pragma once

#include <span>

#include "cost/forest_scorer.h"

namespace tilewright::cost {

inline constexpr size_t kBlock = 16;  // rows in a vector

struct PaddedForest {
  size_t width = 0;
  std::span<const uint32_t> used;
  std::span<const ForestScorer::PaddedTree> trees;
};

// Only where host_has_vectors_512() (target/host_vectors.h).
void score_in_vectors(const PaddedForest& forest, const float* rows, std::span<float> scores);

}  // namespace tilewright::cost
