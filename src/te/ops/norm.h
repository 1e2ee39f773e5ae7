// Norms of matrices, and normalization of rows, in f32 for f16 and bf16.
//
//   norm        X[b, m, n]               -> Y[b] = sqrt(sum of squares over m and n)
//   layer_norm  X[m, n] scale[n] shift[n] -> Y[m, n] = (X - mean) / sqrt(variance + eps) * scale
//                                                      + shift, mean and variance per row
//   rms_norm    X[m, n] scale[n]          -> Y[m, n] = X / sqrt(mean of squares + eps) * scale
//
// Stages of norm: `S[b]` sum over i, j; `Y[b]`. Stages of layer_norm: `S[i]` sum over k; `A[i]` =
// S / n; `V[i]` sum of (X - A)^2 over k, which avoids the cancellation of a difference of two large
// sums; `R[i]` = 1 / sqrt(V / n + eps); `Y[i, j]`. Stages of rms_norm: `S[i]` sum of squares over
// k; `R[i]`; `Y[i, j]`. Operations per row do not count as FLOP.
#pragma once

#include <memory>

#include "te/ops/operator.h"
#include "te/ops/rows.h"

namespace tilewright::te {

std::shared_ptr<const Dag> norm(int64_t b, int64_t m, int64_t n,
                                ir::Scalar element = ir::Scalar::F32);

struct RowNorm {
  int64_t m = 1, n = 1;
  double eps = 1e-5;
  ir::Scalar element = ir::Scalar::F32;
};
std::shared_ptr<const Dag> layer_norm(const RowNorm& shape);
std::shared_ptr<const Dag> rms_norm(const RowNorm& shape);

// The stages, for operators that contain a norm over the columns of `x`. `affine` maps the
// normalized value of an element to the result, such as by a scale and a shift.
using Affine = std::function<ir::Expr(const ir::Expr& normalized, const Indices& element)>;
TensorId add_layer_norm(DagBuilder& builder, TensorId x, const Rows& rows, double epsilon,
                        ir::Scalar element, const Affine& affine);
TensorId add_rms_norm(DagBuilder& builder, TensorId x, const Rows& rows, double epsilon,
                      ir::Scalar element, const Affine& affine);

Operator norm_operator();
Operator layer_norm_operator();
Operator rms_norm_operator();

}  // namespace tilewright::te
