// Depthwise convolution, channels last: one filter per channel. The operator of the table has two
// spatial dimensions; graphs use one to three.
//
//   X[n, h, w, c] W[kh, kw, c] -> Y[n, y, x, c] = sum over ry, rx of P[n, .., .., c] * W[ry, rx, c]
//
// Stages: with pad > 0 `P`, X within a border of zeros (axes n, y, x, c); then `Y` (axes n, y, x,
// c; reduce ry, rx).
#pragma once

#include <memory>

#include "te/ops/conv_window.h"

namespace tilewright::te {

struct DepthwiseShape {
  int64_t n = 1;
  Window window;
  int64_t channels = 1;
  ir::Scalar element = ir::Scalar::F32;
  bool unit_dimension = false;  // W[kh, kw, 1, c], as in a convolution with c groups
};

// Fails if the kernel does not fit.
Result<std::shared_ptr<const Dag>> depthwise_conv(const DepthwiseShape& shape);

Operator depthwise_conv2d_operator();

}  // namespace tilewright::te
