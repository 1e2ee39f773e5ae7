#include "graph/passes/simplify.h"

#include <array>
#include <vector>

#include "graph/passes/rewrite.h"
#include "graph/passes/simplify_rules.h"

namespace tilewright::graph {

Result<Graph> simplify(const Graph& graph, const PassOptions& options) {
  constexpr std::array kRules = {simplify_map, simplify_move, sink_broadcasts, sink_reshapes};
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (node.outputs.size() != 1) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    const Simplification s{.rewrite = rewrite,
                           .node = node,
                           .in = in,
                           .type = graph.value(node.outputs[0]).type,
                           .permissions = options.permissions};
    for (const auto& rule : kRules) {
      const ValueId now = TRY(rule(s));
      if (now == kNone) continue;
      TRY(rewrite.replace_as(node.outputs[0], now));
      return true;
    }
    return false;
  });
}

}  // namespace tilewright::graph
