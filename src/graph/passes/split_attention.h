// Splits attention into three kernels where one does not pay: the inverse of recognize_attention.
//
//   attention(q, k, v, mask; scale=0.125, q=bihd, k=bjhd, v=bjhe, scores=bhij, out=bihe)
//     ->   c = contract(q, k; a=bihd, b=bjhd, out=bhij)
//          p = softmax(c * 0.125 + mask)
//          contract(p, v; a=bhid, b=bdhj, out=bihj)
//
// The letters of the second product are named by their role, as in matrix products: stored traces
// refer to loops by these names.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> split_attention(const Graph& graph, const PassOptions& options);

// Whether an attention whose scores have this many bytes is one kernel.
bool attention_pays_as_one(int64_t score_bytes);

}  // namespace tilewright::graph
