// Convolutions of 3x3 and stride 1 by Winograd's F(4x4, 3x3) where that is less work (permission
// `winograd`, which has to be asked for: rounding errors are some four times as large). Constant
// weights are transformed here, in f64, and are four times as large then.
//
//   conv(x, w; pads 1, channels_last)   ->   conv_winograd(x, u; pad=1)
//   w[3, 3, ci, co]                          u[6, 6, ci, co] = G w G^T
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> winograd(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
