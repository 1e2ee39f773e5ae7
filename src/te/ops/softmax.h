// Softmax and its logarithm over the last axis, with the maximum subtracted.
//
//   softmax      X[m, n] -> Y[m, n] = exp(X - max of the row) / (sum of that over the row)
//   log_softmax  X[m, n] -> Y[m, n] = X - max of the row - log(sum of exp(X - max) over the row)
//
// Stages of softmax: `M[i]` maximum over k; `E[i, j]` = exp(X - M); `S[i]` sum of E over k;
// `R[i]` = 1 / S; `Y[i, j]` = E * R. Stages of log_softmax: `M[i]`; `S[i]` sum of exp(X - M) over
// k; `L[i]` = log S; `Y[i, j]` = (X - M) - L. All but Y are f32 for f16 and bf16.
#pragma once

#include <memory>

#include "te/ops/operator.h"
#include "te/ops/rows.h"

namespace tilewright::te {

std::shared_ptr<const Dag> softmax(int64_t m, int64_t n, ir::Scalar element = ir::Scalar::F32);
std::shared_ptr<const Dag> log_softmax(int64_t m, int64_t n, ir::Scalar element = ir::Scalar::F32);

// The stages, for operators that contain a softmax over the columns of `x`.
struct SoftmaxStages {
  TensorId maxima = 0, powers = 0, sums = 0, reciprocals = 0;  // M, E, S, R
};
// E is exp((x - M) * scale), which gives the softmax of x * scale; scale is positive.
SoftmaxStages add_softmax(DagBuilder& builder, TensorId x, const Rows& rows, double scale = 1);
// Y = E * R.
TensorId add_quotients(DagBuilder& builder, const SoftmaxStages& stages, const Rows& rows,
                       ir::Scalar element);
// M, S, L and Y.
TensorId add_log_softmax(DagBuilder& builder, TensorId x, const Rows& rows, ir::Scalar element);

Operator softmax_operator();
Operator log_softmax_operator();

}  // namespace tilewright::te
