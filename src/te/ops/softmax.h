// Softmax over the last axis, with the maximum subtracted.
//
//   X[m, n] -> Y[m, n] = exp(X - max of the row) / (sum of that over the row)
//
// Stages: `M[i]` maximum over k; `E[i, j]` = exp(X - M); `S[i]` sum of E over k; `R[i]` = 1 / S;
// `Y[i, j]` = E * R. M, E, S and R are f32 for f16 and bf16.
#pragma once

#include <memory>

#include "te/ops/operator.h"

namespace tilewright::te {

std::shared_ptr<const Dag> softmax(int64_t m, int64_t n, ir::Scalar element = ir::Scalar::F32);

Operator softmax_operator();

}  // namespace tilewright::te
