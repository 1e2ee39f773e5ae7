// Batch norm, and factors and summands of output channels, into the constant weights of the
// convolution or contraction before (permission `fold`):
//
//   batch_norm(conv(x, w) + b)   ->   conv(x, w * s) + (b * s + t)       s = scale / sqrt(var +
//   eps) (contract(x, w) + b) * g     ->   contract(x, w * g) + b * g         t = bias - mean * s
//   batch_norm(x)                ->   x * s + t                          before a convolution
//
// A node whose result others read too keeps its weights.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> fold_batch_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
