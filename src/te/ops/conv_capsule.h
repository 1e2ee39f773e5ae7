// Convolution of square matrices ("capsules"), channels last: elements are multiplied as matrices.
//
//   X[n, h, w, s, s, ci] W[kh, kw, s, s, ci, co] -> Y[n, y, x, s, s, co]
//   Y[.., i, j, c] = sum over ry, rx, rk, rc of P[.., i, rk, rc] * W[ry, rx, rk, j, rc, c]
//
// Stages: with pad > 0 `P`, X within a border of zeros (axes n, y, x, i, j, c); then `Y` (axes
// n, y, x, i, j, c; reduce ry, rx, rk, rc).
#pragma once

#include <memory>

#include "te/ops/conv_window.h"

namespace tilewright::te {

struct CapsuleShape {
  int64_t n = 1;
  Window window;  // of two dimensions
  int64_t ci = 1, co = 1;
  int64_t side = 4;  // rows and columns of a capsule
  ir::Scalar element = ir::Scalar::F32;
};

// Fails if the kernel does not fit.
Result<std::shared_ptr<const Dag>> conv2d_capsule(const CapsuleShape& shape);

Operator conv2d_capsule_operator();

}  // namespace tilewright::te
