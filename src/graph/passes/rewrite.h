// Rewrite: the state of a pass that rewrites a Graph node by node, in order. Values of the old
// Graph are mapped to values of the new one. Patterns are matched in the new Graph, so a rule sees
// the results of earlier rewrites. Nodes and constants without readers are dropped at the end.
//
// Pointers to nodes of the new Graph are valid until the next `add`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace tilewright::graph {

class Rewrite {
 public:
  explicit Rewrite(const Graph& from);

  const Graph& from() const { return from_; }
  const Graph& to() const { return to_; }
  ValueId at(ValueId old) const { return old == kNone ? kNone : map_[old]; }
  std::vector<ValueId> operands(const Node& old) const;

  // Of the new Graph.
  const TensorType& type(ValueId now) const { return to_.value(now).type; }
  const std::vector<int64_t>& shape(ValueId now) const { return type(now).shape; }
  const Constant& constant(ValueId now) const;                   // empty for kNone too
  std::optional<double> scalar(ValueId now) const;               // of a constant with one element
  const Node* made_by(ValueId now) const;                        // null: an input or a constant
  const Node* made_by(ValueId now, std::string_view op) const;   // null: by another operator
  bool read_once(ValueId now) const { return reads(now) == 1; }  // and not an output
  int reads(ValueId now) const;  // number of operands that read it, plus 2 for an output

  // Appends a node with one result, and the name and origin of the node being rewritten.
  Result<ValueId> add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  ValueId add_constant(Constant constant);
  // The value reshaped; itself if it has that shape.
  Result<ValueId> reshape(ValueId now, const std::vector<int64_t>& shape);

  void enter(const Node& old);                  // starts rewriting this node
  void replace(ValueId old, ValueId now);       // types may differ until finish
  Status replace_as(ValueId old, ValueId now);  // reshapes if only shapes differ
  Status keep(const Node& old);                 // copies it with its operands mapped
  // Copies the node with other operands, without replacing its results.
  Result<std::vector<ValueId>> copy(const Node& old, std::vector<ValueId> inputs);

  Graph finish() &&;

 private:
  void count(const Node& node);

  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
  std::vector<int> old_reads_;  // of each old value: operands of nodes and outputs
  std::vector<int> reads_;      // of each new value, by old readers of the value it replaces
  std::vector<int> new_reads_;  // of each new value, by new nodes
  std::vector<bool> stands_;    // the new value replaces an old one
  const Node* current_ = nullptr;
};

// Applies `rule` to each node: true if it replaced the node's results, false to keep the node.
using Rule = std::function<Result<bool>(Rewrite& rewrite, const Node& old)>;
Result<Graph> rewrite_nodes(const Graph& graph, const Rule& rule);

// The Graph without the nodes and constants that no output needs; all inputs stay.
Graph pruned(const Graph& graph);

// Matching. `add` and `mul` of two operands, one of them a constant: {the other, the constant}.
struct WithConstant {
  ValueId value = kNone;
  ValueId constant = kNone;
};
std::optional<WithConstant> with_constant(const Rewrite& rewrite, const Node& node);

ValueId operand(const Node& node, size_t k);                            // kNone: omitted
int64_t axis_of(const Node& node, size_t rank, int64_t fallback = -1);  // never negative
std::vector<int64_t> axes_of(const Node& node, size_t rank);            // ascending, never negative
std::vector<int64_t> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
bool is_map(const Node& node);

}  // namespace tilewright::graph
