// Quality: how well scores ranked programs that were measured afterwards. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright::cost {

struct Quality {
  size_t programs = 0;
  double rank_correlation = 0;   // Spearman
  double pairwise_accuracy = 0;  // share of pairs in the right order
  size_t k = 0;
  double recall_at_k = 0;     // share of the k fastest that are among the k best by score
  double top1 = 0, top5 = 0;  // best latency of all / best latency among the best 1 or 5 by score
};
// k = 0: a quarter of the programs, because recall over all of them is always 1.
Quality quality_of(std::span<const float> scores, std::span<const double> latency_ns, size_t k = 0);

}  // namespace tilewright::cost
