#include "graph/passes/absorb_transposes.h"

#include "graph/passes/arrange.h"

namespace tilewright::graph {

Result<Graph> absorb_transposes(const Graph& graph, const PassOptions& /*options*/) {
  const int64_t before = transposed_bytes(graph);
  if (before == 0) return graph;
  Result<Graph> moved = arrange(graph, {.push = true, .contracts = true, .windows = false});
  if (!moved || transposed_bytes(*moved) <= before) return moved;
  return graph;
}

}  // namespace tilewright::graph
