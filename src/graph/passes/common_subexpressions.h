// Common subexpression elimination: merges nodes with the same operator and operands, and equal
// constants (single numbers, integers, and large ones). A scale and a bias that happen to be equal
// stay separate, so kernels do not depend on the values of weights. The operands of add, mul, max
// and min may be in any order.
//
//   a = sub(x, m); b = sub(x, m); c = mul(a, b)   ->   a = sub(x, m); c = mul(a, a)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> common_subexpressions(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
