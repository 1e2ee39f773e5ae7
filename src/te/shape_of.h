// The extents of a tensor as numbers; a symbolic extent counts as its largest value.
#pragma once

#include <cstdint>
#include <vector>

#include "te/dag.h"

namespace tilewright::te {

inline std::vector<int64_t> shape_of(const Tensor& tensor) {
  std::vector<int64_t> shape;
  shape.reserve(tensor.shape.size());
  for (const Extent& extent : tensor.shape) shape.push_back(extent.high);
  return shape;
}

}  // namespace tilewright::te
