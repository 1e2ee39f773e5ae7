// The iterations of an operator's axes: their number, and the next one in row-major order. A
// symbolic extent counts as its largest value.
//
//   for (std::vector<int64_t> at(axes.size());;) {
//     ...
//     if (!next_iteration(at, axes, [&](size_t axis, int64_t value) { ... })) break;
//   }
#pragma once

#include <cstdint>
#include <span>

#include "te/dag.h"

namespace tilewright::te {

// The product of the extents; 1 without axes.
inline double trip_count(std::span<const Axis> axes) {
  double trips = 1;
  for (const Axis& axis : axes) trips *= static_cast<double>(axis.extent.high);
  return trips;
}

// Over all axes of the operator, the reduced ones included.
inline double trip_count(const Op& op) { return trip_count(op.axes) * trip_count(op.reduce_axes); }

// Advances `at` and calls changed(axis, value) for each axis whose value changes, innermost first.
// After the last iteration, all values are 0 again and the result is false.
template <class Changed>
bool next_iteration(std::span<int64_t> at, std::span<const Axis> axes, const Changed& changed) {
  for (size_t d = at.size(); d-- > 0;) {
    const bool over = ++at[d] == axes[d].extent.high;
    if (over) at[d] = 0;
    changed(d, at[d]);
    if (!over) return true;
  }
  return false;
}

}  // namespace tilewright::te
