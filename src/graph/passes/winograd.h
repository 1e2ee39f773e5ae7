// Computes 3x3 convolutions of stride 1 by Winograd's F(4x4, 3x3) or F(2x2, 3x3), where one of them
// is less work (permission `winograd`, off by default: rounding errors are larger). Constant
// weights are transformed here, in f64, to 4 or 16/9 times their size. On small images, tiles of
// 2x2 have fewer outputs beyond the image and fewer weights to read.
//
//   conv(x, w; pads 1, channels_last)   ->   conv_winograd(x, u; pad=1)
//   w[3, 3, ci, co]                          u[m+2, m+2, ci, co] = G w G^T,  m = 2 or 4
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> winograd(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
