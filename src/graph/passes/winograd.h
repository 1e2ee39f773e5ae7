// Computes 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) where that is less work
// (permission `winograd`, off by default: rounding errors are about four times as large). Constant
// weights are transformed here, in f64, to four times their size.
//
//   conv(x, w; pads 1, channels_last)   ->   conv_winograd(x, u; pad=1)
//   w[3, 3, ci, co]                          u[6, 6, ci, co] = G w G^T
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> winograd(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
