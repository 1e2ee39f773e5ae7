// Code shared by convolutions: a window that slides over the spatial dimensions of an input, the
// zero padding of that input, and the parameters of both.
//
// Along each of 1, 2 or 3 spatial dimensions
//
//   output = (input + 2 pad - dilation (kernel - 1) - 1) / stride + 1,
//   e.g. (14 + 2 - 2 - 1) / 1 + 1 = 14
//
// and output position y reads tap r at position y * stride + r * dilation of the padded input.
#pragma once

#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

struct Window {
  std::vector<int64_t> input;   // extents, outermost dimension first
  std::vector<int64_t> kernel;  // of the same rank
  int64_t stride = 1;
  int64_t pad = 0;  // zeros on each side
  int64_t dilation = 1;
  // If dimensions or sides differ: one number per dimension, instead of the numbers above.
  std::vector<int64_t> strides = {}, pads_below = {}, pads_above = {}, dilations = {};

  size_t rank() const { return input.size(); }
  int64_t stride_of(size_t dim) const { return strides.empty() ? stride : strides[dim]; }
  int64_t below(size_t dim) const { return pads_below.empty() ? pad : pads_below[dim]; }
  int64_t above(size_t dim) const { return pads_above.empty() ? pad : pads_above[dim]; }
  int64_t dilation_of(size_t dim) const { return dilations.empty() ? dilation : dilations[dim]; }
  int64_t output(size_t dim) const;  // 0 if the kernel does not fit
  ir::Expr index(size_t dim, const ir::Expr& position, const ir::Expr& tap) const;
};

// Fails if the output is empty. The message begins with `op`.
Status require_fit(std::string_view op, const Window& window);

// Names of the spatial axes: x; y, x; z, y, x. The axes of taps have an r before them.
std::span<const std::string_view> spatial_axis_names(size_t rank);
std::vector<Axis> output_axes(DagBuilder& builder, const Window& window);
std::vector<Axis> tap_axes(DagBuilder& builder, const std::vector<int64_t>& taps,
                           std::string_view prefix = "r");

// `position * step` and `position / step`, or `position` itself if the step is 1.
ir::Expr times(const ir::Expr& position, int64_t step);
ir::Expr quotient(const ir::Expr& position, int64_t step);

// One dimension of a zero-padded tensor: `below` zeros, `inside` elements, `above` zeros. A
// negative `above` drops the last elements.
struct BorderedDim {
  std::string_view axis;
  int64_t inside = 1;
  int64_t below = 0;
  int64_t above = 0;
};

// X[.., i, ..] -> stage P[.., i, ..] = X[.., i - below, ..] inside, 0 outside; X itself, without a
// stage, if there are no zeros to add.
TensorId add_border(DagBuilder& builder, TensorId x, const std::vector<BorderedDim>& dims,
                    ir::Scalar element);
// The same with the window's pads on each spatial dimension: axes n, spatial ones, `channels`; or
// with `channels` before the spatial ones.
TensorId add_border(DagBuilder& builder, TensorId x, int64_t batch, const Window& window,
                    const std::vector<BorderedDim>& channels, ir::Scalar element,
                    bool channels_first = false);

// Parameters, in the order of an operator's text: n, the extents of the input (l; h, w; d, h, w),
// then channels, then `kernel` or its extents (kh, kw; kd, kh, kw), then steps.
std::vector<Parameter> input_parameters(size_t rank);
std::vector<Parameter> channel_parameters();
std::vector<Parameter> kernel_parameters(size_t rank);
std::vector<Parameter> step_parameters();  // stride, pad, dilation
std::vector<Parameter> joined(std::initializer_list<std::vector<Parameter>> parts);

// The window that those parameters describe.
std::vector<int64_t> input_of(const Arguments& arguments, size_t rank);
Result<std::vector<int64_t>> kernel_of(std::string_view op, const Arguments& arguments,
                                       size_t rank);
Result<Window> window_of(std::string_view op, const Arguments& arguments, size_t rank);

}  // namespace tilewright::te
