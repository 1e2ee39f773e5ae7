// The vector form of ForestScorer, which cost/forest_scorer.h describes.
#pragma once

#include <span>

#include "cost/forest_scorer.h"

namespace tilewright::cost {

inline constexpr size_t kBlock = 16;  // rows per vector

struct PaddedForest {
  size_t width = 0;
  std::span<const uint32_t> used;
  std::span<const ForestScorer::PaddedTree> trees;
};

// Requires host_has_vectors_512() (target/host_vectors.h).
void score_in_vectors(const PaddedForest& forest, const float* rows, std::span<float> scores);

}  // namespace tilewright::cost
