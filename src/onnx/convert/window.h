// The window of a convolution or pooling, from their common attributes: strides, dilations, and
// pads, given or by auto_pad.
#pragma once

#include <span>

#include "onnx/conversion.h"

namespace tilewright::onnx {

struct Window {
  Shape kernel, stride, dilation, begin, end;  // one number per spatial dimension
};

// `spatial` are the extents of the operand that the window slides over.
Window window_of(Conversion& node, Shape kernel, std::span<const int64_t> spatial);

// The extent of the window in a dimension: (kernel - 1) * dilation + 1.
int64_t covered(const Window& window, size_t dimension);

graph::Attributes window_attributes(const Window& window);

}  // namespace tilewright::onnx
