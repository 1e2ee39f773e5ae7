// Compares an output with its reference, element by element, within a tolerance. Unless the
// workload keeps denormals, they count as zero on both sides. Pure functions on memory of the
// caller.
//
//   find_difference -> "Y[0, 3, 1] is 0.25, expected 0.5; 17 of 4096 elements are wrong"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "task/workload.h"

namespace tilewright::oracle {

// Per operand, 0 for inputs: the allowed distance of an element from the reference.
struct Tolerance {
  std::vector<double> absolute;  // 0, with relative 0: equal values
  std::vector<double> relative;  // times the magnitude of the reference, added to `absolute`

  bool operator==(const Tolerance&) const = default;
};

// Names the first wrong element and the number of wrong ones; empty if all are correct. Both are
// row-major.
std::string find_difference(const Workload& workload, size_t operand, const Tolerance& tolerance,
                            std::span<const std::byte> expected, std::span<const std::byte> actual);

}  // namespace tilewright::oracle
