// Recognizes sigmoid and the activations built from it:
//
//   1 / (1 + exp(-x))                                       ->   sigmoid(x)
//   x * sigmoid(x)                                          ->   silu(x)
//   x * hard_sigmoid(x; 1/6, 0.5), x * clip(x + 3, 0, 6) / 6   ->   hard_swish(x)
//   x * tanh(softplus(x)), log(1 + exp(x)) for softplus     ->   mish(x)
//
// Reordering factors needs the permission `reassociate`.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_silu(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
