// The constant weights of Heavy nodes, scaled so that the node's result is.
#pragma once

#include <optional>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

// The operand that is a constant float, of conv, conv_transpose or contract; none.
std::optional<size_t> constant_weight(const Rewrite& rewrite, const Node& node);

// Weights w' with heavy(x, w') = heavy(x, w) * factor, where the factor, broadcast to the result,
// varies only along dimensions that the weights have: output channels. None where it cannot be.
std::optional<Constant> scaled_weights(const Rewrite& rewrite, const Node& node, size_t weight,
                                       const std::vector<int64_t>& result, const Constant& factor);

}  // namespace tilewright::graph
