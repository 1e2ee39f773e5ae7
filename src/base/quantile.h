// The q-quantile of samples, linear between two of them.
//
//   quantile_of({1, 2, 3, 4, 5}, 0.1)            // 1.4; the samples are in ascending order
//   quantile_of_unsorted({4, 2, 1, 5, 3}, 0.1)   // 1.4
//   median_of({4, 1})                            // 2.5
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tilewright {

// `q` in [0, 1]. 0 if there are no samples.
inline double quantile_of(std::span<const double> ascending, double q) {
  if (ascending.empty()) return 0;
  const double position = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = position - static_cast<double>(below);
  return ascending[below] + part * (ascending[above] - ascending[below]);
}

inline double quantile_of_unsorted(std::vector<double> samples, double q) {
  std::ranges::sort(samples);
  return quantile_of(samples, q);
}

inline double median_of(std::vector<double> samples) {
  return quantile_of_unsorted(std::move(samples), 0.5);
}

}  // namespace tilewright
