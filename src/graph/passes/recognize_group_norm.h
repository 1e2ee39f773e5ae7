// Recognizes group norm in the form used before ONNX had the operator: an instance norm with groups
// as channels, followed by scale and bias per channel (permission `reassociate`):
//
//   reshape(group_norm(reshape(x; [n, g, rest]), 1, 0; groups=g); as x)
//     ->   group_norm(x; groups=g)
//   group_norm(x) * w, + b
//     ->   group_norm(x, w, b)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_group_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
