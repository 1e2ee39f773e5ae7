// Convolution, shared with its quantized forms.
#pragma once

#include "onnx/conversion.h"

namespace tilewright::onnx {

// The convolution described by the node's attributes, without a bias.
Tensor convolve(Conversion& node, Tensor x, Tensor w);

}  // namespace tilewright::onnx
