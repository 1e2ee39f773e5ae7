// Attention of its parts, by the letters of two contractions, whatever the order in which their
// operands lie:
//
//   c = contract(q, k; a=bihd, b=bjhd, out=bhij)
//   p = softmax(c * 0.125 + mask)            also where(mask, c, -inf), both, and reshapes between
//   contract(p, v; a=bhij, b=bjhe, out=bihe)
//     ->   attention(q, k, v, mask; scale=0.125, q=bihd, k=bjhd, v=bjhe, scores=bhij, out=bihe)
//
// Also with where(is_nan(p), 0, p) for p, and with numbers that multiply q or k. Nobody else reads
// what is between. By permission `reassociate`: rows are divided by their sums
// behind the second contraction.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_attention(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
