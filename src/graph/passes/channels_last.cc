#include "graph/passes/channels_last.h"

#include <algorithm>

#include "graph/passes/arrange.h"

namespace tilewright::graph {

Result<Graph> channels_last(const Graph& graph, const PassOptions& options) {
  const bool windows = std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return node.op == "conv" || node.op == "conv_transpose";
  });
  if (!windows) return graph;
  const bool contracts = std::ranges::count(options.off, "absorb_transposes") == 0;
  return arrange(graph, {.push = true, .contracts = contracts, .windows = true});
}

}  // namespace tilewright::graph
