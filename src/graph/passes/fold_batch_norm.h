// Folds batch norm, and factors per output channel, into the constant weights of the preceding
// convolution or contraction (permission `fold`):
//
//   batch_norm(conv(x, w) + b)   ->   conv(x, w * s) + (b * s + t)
//   (contract(x, w) + b) * g     ->   contract(x, w * g) + b * g
//   batch_norm(x)                ->   x * s + t                       before a convolution
//
// where s = scale / sqrt(var + eps) and t = bias - mean * s. A convolution or contraction with
// other readers keeps its weights.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> fold_batch_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
