// Scaling of the constant weights of Heavy nodes, which scales their results.
#pragma once

#include <optional>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

// The constant float operand of a conv, conv_transpose or contract; nothing if there is none.
std::optional<size_t> constant_weight(const Rewrite& rewrite, const Node& node);

// Weights w' with heavy(x, w') = heavy(x, w) * factor, where the factor, broadcast to the result,
// varies only along output channels, which the weights have. Nothing if that is not possible.
std::optional<Constant> scaled_weights(const Rewrite& rewrite, const Node& node, size_t weight,
                                       const std::vector<int64_t>& result, const Constant& factor);

}  // namespace tilewright::graph
