// Nodes that compute the same from the same operands become one, and constants with the same bytes:
// single numbers, integers, and large ones. A scale and a bias that happen to be alike stay two, so
// that kernels do not depend on the weights.
// The operands of add, mul, max and min may be in any order.
//
//   a = sub(x, m); b = sub(x, m); c = mul(a, b)   ->   a = sub(x, m); c = mul(a, a)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> common_subexpressions(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
