// Transposed convolution over two spatial dimensions, channels last: the gradient of a convolution
// with that stride and pad.
//
//   X[n, h, w, ci] W[kh, kw, ci, co] -> Y[n, (h-1) s - 2 p + kh + output_padding, .., co]
//   Y[y] = sum over hi, r with y = hi * s - p + r of X[hi] * W[r]      (one dimension of two)
//
// in the sub-pixel form, which skips the zeros that a stride inserts between the elements of X: y
// takes only the taps r = (y + p) mod s + s t, of which there are T = ceil(k / s):
//
//   Y[y] = sum over t < T of P[(y + p) / s + T - 1 - t] * W[(y + p) mod s + s t]
//
// where P is X with T - 1 zeros below and as many above as the largest index needs. E.g. k=4, s=2,
// p=1, y=2: T = 2, r is 1 and 3, P[2] and P[1] are X[1] and X[0]; and 2 = 1*2 - 1 + 1 = 0*2 - 1
// + 3. If s does not divide k, the last tap may be outside the kernel (r >= k); a select masks it.
//
// Stages: `P` (axes n, y, x, c) where it has zeros, then `Y` (axes n, y, x, c; reduce ty, tx, rc).
//
// Graphs also use one or three spatial dimensions, groups, parameters per dimension, and dilation.
// With these there is no P; r runs over all taps, and a select masks those without an element: y +
// p - r d must be a multiple of s and within X.
#pragma once

#include <memory>

#include "te/ops/operator.h"

namespace tilewright::te {

struct ConvTransposeShape {
  int64_t n = 1;
  std::vector<int64_t> input;   // h, w
  std::vector<int64_t> kernel;  // kh, kw
  int64_t ci = 1, co = 1;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t output_padding = 0;  // rows and columns added at the end of the output, below stride
  ir::Scalar element = ir::Scalar::F32;
  // If dimensions or sides differ: one number per dimension, instead of the numbers above.
  std::vector<int64_t> strides = {}, pads_below = {}, pads_above = {}, output_paddings = {};
  std::vector<int64_t> dilations = {};  // default: 1 each
  int64_t groups = 1;                   // W[kh, kw, ci, co/groups]
  bool channels_first = false;          // X[n, ci, h, w] W[ci, co/groups, kh, kw] -> Y[n, co, ..]

  size_t rank() const { return input.size(); }
  int64_t stride_of(size_t dim) const { return strides.empty() ? stride : strides[dim]; }
  int64_t below(size_t dim) const { return pads_below.empty() ? pad : pads_below[dim]; }
  int64_t above(size_t dim) const { return pads_above.empty() ? pad : pads_above[dim]; }
  int64_t dilation_of(size_t dim) const { return dilations.empty() ? 1 : dilations[dim]; }
  bool is_dilated() const;
  int64_t output(size_t dim) const;
  int64_t taps(size_t dim) const;  // T
};

// Fails if the output is empty or groups do not divide the channels.
Result<std::shared_ptr<const Dag>> conv_transpose(const ConvTransposeShape& shape);

Operator conv2d_transpose_operator();

}  // namespace tilewright::te
