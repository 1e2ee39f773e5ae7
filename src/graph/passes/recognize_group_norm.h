// Group norm as it was written before ONNX had it: an instance norm of the groups as channels, and
// the scale and bias of channels behind (permission `reassociate`):
//
//   reshape(group_norm(reshape(x; [n, g, rest]), 1, 0; groups=g); as x)   ->   group_norm(x;
//   groups=g) group_norm(x) * w, + b                                                ->
//   group_norm(x, w, b)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_group_norm(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
