// Cumulative sums along an axis (Hillis and Steele, Data Parallel Algorithms, CACM 1986).
//
//   cumulative_sum:shape=4x8,axis=1              Y[i, j] = X[i, 0] + ... + X[i, j]
//   cumulative_sum:...,exclusive=1               Y[i, j] = X[i, 0] + ... + X[i, j - 1]
//   cumulative_sum:...,reverse=1                 the same from the other end
//
// ceil(log2 extent) elementwise stages, each of which doubles the number of summed elements:
//
//   T1[j] = X[j] + X[j - 1],  T2[j] = T1[j] + T1[j - 2],  ...,  Y[j] = Tn[j] + Tn[j - 2^n]
//
// where elements before the first count as 0. Stages are T1, T2, ... and Y, axes i, j, k, l, p, q
// by dimension. Sums are f32 for f16 and bf16 and i32 for narrow integers; Y has the type of X, or
// i32.
#pragma once

#include <memory>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

struct CumulativeSumShape {
  std::vector<int64_t> shape;
  int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
  ir::Scalar element = ir::Scalar::F32;
};

// Fails if the axis does not exist or the type is not a number.
Result<std::shared_ptr<const Dag>> cumulative_sum(const CumulativeSumShape& shape);

Operator cumulative_sum_operator();

}  // namespace tilewright::te
