// Normalizations, shared with the fused forms of other domains.
#pragma once

#include "onnx/conversion.h"

namespace tilewright::onnx {

// Scale and bias (either may be null) broadcast to the dimensions from `axis` on.
Tensor layer_norm(Conversion& node, Tensor x, Tensor scale, Tensor bias, size_t axis,
                  double epsilon);
Tensor rms_norm(Conversion& node, Tensor x, Tensor scale, size_t axis, double epsilon);

// [c] as [c, 1, 1, ...], which broadcasts along dimension 1 of x.
Tensor per_channel(Conversion& node, Tensor values, Tensor x);

}  // namespace tilewright::onnx
