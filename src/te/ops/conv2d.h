// Two-dimensional convolution, channels last.
//
//   X[n, h, w, ci] W[kh, kw, ci/groups, co] -> Y[n, y, x, co]
//
// Stages: with pad > 0 first `P`, X within a border of zeros (axes n, y, x, c); then `Y`, or `C`
// when an epilogue follows (axes n, y, x, c; reduce ry, rx, rc). Extents of the output:
//
//   y = (h + 2 pad - dilation (kh - 1) - 1) / stride + 1,  e.g. (14 + 2 - 2 - 1) / 1 + 1 = 14
//
// conv2d_bias_bn_relu: C, T1 = C + bias[co], T2 = T1 * scale[co], T3 = T2 + shift[co] and
// Y = max(T3, 0), each a stage with the axes of Y.
#pragma once

#include <memory>

#include "te/ops/operator.h"

namespace tilewright::te {

struct Conv2dShape {
  int64_t n = 1;
  int64_t h = 1, w = 1;
  int64_t ci = 1, co = 1;
  int64_t kh = 1, kw = 1;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  ir::Scalar element = ir::Scalar::F32;
};

// Fails when groups do not divide the channels or the kernel does not fit.
Result<std::shared_ptr<const Dag>> conv2d(const Conv2dShape& shape);
Result<std::shared_ptr<const Dag>> conv2d_bias_bn_relu(const Conv2dShape& shape);

Operator conv2d_operator();
Operator conv2d_bias_bn_relu_operator();

}  // namespace tilewright::te
