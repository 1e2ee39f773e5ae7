// Matrix products with batch dimensions, shared with fused and quantized forms.
#pragma once

#include "onnx/conversion.h"

namespace tilewright::onnx {

struct MatMulOptions {
  bool transpose_a = false;  // the last two dimensions
  bool transpose_b = false;
};

// As NumPy's matmul: products of the last two dimensions; the others broadcast; an operand of one
// dimension is a vector.
Tensor matmul(Conversion& node, Tensor a, Tensor b, const MatMulOptions& options = {});

// x * factor; x itself for a factor of 1.
Tensor scaled(Conversion& node, Tensor x, double factor);

}  // namespace tilewright::onnx
