// quantile_of: the q-quantile of samples in ascending order, linear between two samples.
//
//   quantile_of({1, 2, 3, 4, 5}, 0.1)   // 1.4
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

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

}  // namespace tilewright
