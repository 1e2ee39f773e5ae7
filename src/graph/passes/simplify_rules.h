// The rules of the pass simplify. A rule maps a node of the old Graph, with its operands in the new
// one, to the value that replaces its result, or kNone. That value has the type and number of
// elements of the result; the shape may differ by extents of 1.
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
  // Whether the value can replace the result as it is.
  bool fits(ValueId now) const {
    return rewrite.type(now).element == type.element &&
           rewrite.type(now).elements() == type.elements();
  }
};

// Elementwise, by op name.
Result<ValueId> simplify_map(const Simplification& s);
// Move and View nodes.
Result<ValueId> simplify_move(const Simplification& s);
// Map nodes that read broadcasts.
Result<ValueId> sink_broadcasts(const Simplification& s);
// Map nodes behind a reshape of a product: add(reshape(contract), x) -> reshape(add(contract, x')),
// so that the node joins the kernel of the product. Only for reshapes that differ by extents of 1.
Result<ValueId> sink_reshapes(const Simplification& s);

}  // namespace tilewright::graph
