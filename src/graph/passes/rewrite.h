// Rewrite: a pass at work. It goes through the nodes of a Graph in their order and says of each
// what becomes of it; values of the old Graph are looked up in the new one. Patterns are matched in
// the new Graph, so a rule sees what it made of the nodes before. Nodes and constants that nobody
// reads any more are dropped at the end.
//
// Pointers to nodes of the new Graph are good until the next `add`.
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
  const Node* made_by(ValueId now, std::string_view op) const;   // null: by another one
  bool read_once(ValueId now) const { return reads(now) == 1; }  // and not an output
  int reads(ValueId now) const;  // operands that read it; an output has two more

  // Appends a node with one result. It has the name and the origin of the node being rewritten.
  Result<ValueId> add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  ValueId add_constant(Constant constant);
  // The same value under the shape; itself where it has it.
  Result<ValueId> reshape(ValueId now, const std::vector<int64_t>& shape);

  void enter(const Node& old);                  // it is rewritten from here on
  void replace(ValueId old, ValueId now);       // types may differ until finish
  Status replace_as(ValueId old, ValueId now);  // reshapes where only shapes differ
  Status keep(const Node& old);                 // as it is, operands looked up
  // The node as it is but for its operands; what stands for its results is not said.
  Result<std::vector<ValueId>> copy(const Node& old, std::vector<ValueId> inputs);

  Graph finish() &&;

 private:
  void count(const Node& node);

  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
  std::vector<int> old_reads_;  // of each old value: operands of nodes and outputs
  std::vector<int> reads_;      // of each new value, by old readers of what it stands for
  std::vector<int> new_reads_;  // of each new value, by new nodes
  std::vector<bool> stands_;    // the new value stands for an old one
  const Node* current_ = nullptr;
};

// Each node by `rule`: true when it has replaced the node's results, false to keep the node.
using Rule = std::function<Result<bool>(Rewrite& rewrite, const Node& old)>;
Result<Graph> rewrite_nodes(const Graph& graph, const Rule& rule);

// What the outputs need: nodes, constants; all inputs stay.
Graph pruned(const Graph& graph);

// Matching. `add` and `mul` of two operands, one of them a constant: {the other, the constant}.
struct WithConstant {
  ValueId value = kNone;
  ValueId constant = kNone;
};
std::optional<WithConstant> with_constant(const Rewrite& rewrite, const Node& node);

int64_t axis_of(const Node& node, size_t rank, int64_t fallback = -1);  // never negative
std::vector<int64_t> axes_of(const Node& node, size_t rank);            // ascending, never negative
std::vector<int64_t> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
bool is_map(const Node& node);

}  // namespace tilewright::graph
