// Scatters with constant indices become a gather and a select: the inverse index of each element of
// the result is known, so it need not search all updates. Exporters write the assignment to a slice
// in this form.
//
//   scatter_nd(x, indices, updates)        ->   where(hit, gather(updates, which), x)
//   if all are hit, in order               ->   reshape(updates)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> invert_scatters(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
