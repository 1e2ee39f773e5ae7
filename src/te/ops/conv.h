// Convolution over one, two or three spatial dimensions, channels last, with groups.
//
//   X[n, h, w, ci] W[kh, kw, ci/groups, co] -> Y[n, y, x, co]      (conv2d)
//   X[n, l, ci]    W[k, ci/groups, co]      -> Y[n, x, co]         (conv1d)
//   X[n, d, h, w, ci] W[kd, kh, kw, ci/groups, co] -> Y[n, z, y, x, co]   (conv3d)
//
// Stages: with pad > 0 first `P`, X within a border of zeros (axes n, y, x, c); then `Y`, or `C`
// when an epilogue follows (axes n, y, x, c; reduce ry, rx, rc). Other ranks drop y and ry or have
// z and rz before them. Output channel c reads the channels of its group:
//
//   c / (co/groups) * (ci/groups) + rc,  e.g. ci=8, co=4, groups=2: c=3, rc=1 reads channel 5
//
// dtype is the type of X; dtype_w that of W, if different (u8 times i8).
//
// conv2d_bias_bn_relu: C, T1 = C + bias[co], T2 = T1 * scale[co], T3 = T2 + shift[co] and
// Y = max(T3, 0), each a stage with the axes of Y.
#pragma once

#include <memory>
#include <optional>

#include "te/ops/conv_window.h"

namespace tilewright::te {

struct ConvShape {
  int64_t n = 1;
  Window window;
  int64_t ci = 1, co = 1;
  int64_t groups = 1;
  ir::Scalar element = ir::Scalar::F32;           // of X
  std::optional<ir::Scalar> weight_element = {};  // X's by default
  // X[n, ci, h, w] W[co, ci/groups, kh, kw] -> Y[n, co, y, x], the layout of most models; the
  // stages have the same order.
  bool channels_first = false;
};

// Fails if groups do not divide the channels or the kernel does not fit.
Result<std::shared_ptr<const Dag>> conv(const ConvShape& shape);
Result<std::shared_ptr<const Dag>> conv_bias_bn_relu(const ConvShape& shape);

Operator conv1d_operator();
Operator conv2d_operator();
Operator conv3d_operator();
Operator conv2d_bias_bn_relu_operator();

}  // namespace tilewright::te
