// The rules of the pass simplify: a node of the old Graph, with its operands in the new one, gives
// the value that it can be replaced with, or kNone. That value has as many elements as the node's
// result and their type; the shape may differ by extents of 1.
#pragma once

#include <vector>

#include "graph/passes.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {

struct Simplification {
  Rewrite& rewrite;
  const Node& node;                // of the old Graph
  const std::vector<ValueId>& in;  // its operands in the new one
  const TensorType& type;          // of its result
  const FloatPermissions& permissions;

  bool is_float() const { return ir::is_float(type.element); }
  // The value alone can stand for the result.
  bool fits(ValueId now) const {
    return rewrite.type(now).element == type.element &&
           rewrite.type(now).elements() == type.elements();
  }
};

// Elementwise, by op name.
Result<ValueId> simplify_map(const Simplification& s);
// What moves and views.
Result<ValueId> simplify_move(const Simplification& s);
// Map nodes that read broadcasts.
Result<ValueId> sink_broadcasts(const Simplification& s);

}  // namespace tilewright::graph
