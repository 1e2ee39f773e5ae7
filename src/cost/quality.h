// How well scores ranked programs that were measured afterwards. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright::cost {

struct Quality {
  size_t programs = 0;
  double rank_correlation = 0;   // Spearman
  double pairwise_accuracy = 0;  // share of pairs in the right order
  size_t k = 0;
  double recall_at_k = 0;     // of the k best measured, the share among the k best by score
  double top1 = 0, top5 = 0;  // best latency of all / best latency among the 1, 5 best by score
};
// Without a k it is a quarter of the programs: with all of them recall would say nothing.
Quality quality_of(std::span<const float> scores, std::span<const double> latency_ns, size_t k = 0);

}  // namespace tilewright::cost
