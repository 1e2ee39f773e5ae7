// Graph: a model as a list of nodes on tensors of known shapes, in topological order. A Value is an
// input of the model, a constant, or the result of a node. Every node's operator is in the table
// (graph/op_table.h): its attributes and the types of its operands determine a te::Dag, which
// determines the types of its results.
//
//   conv(x, w; stride 2) -> c        c: f32 [1, 112, 112, 64]
//   add(c, bias)         -> s
//   relu(s)              -> y
//
// A Graph is a value and cheap to copy: constants are shared. Passes take a Graph and return
// another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "graph/attributes.h"
#include "graph/constant.h"

namespace tilewright::graph {

using ValueId = uint32_t;
using NodeId = uint32_t;  // index into Graph::nodes()
inline constexpr uint32_t kNone = 0xFFFFFFFF;

struct Value {
  std::string name;  // from the model if it has one; unique
  TensorType type;
  Constant constant;        // empty unless it is known
  NodeId producer = kNone;  // none: an input or a constant
  bool is_constant() const { return !constant.empty(); }
};

struct Node {
  std::string op;  // of the table: `conv`
  Attributes attributes;
  std::vector<ValueId> inputs;      // kNone: an omitted operand
  std::vector<ValueId> outputs;     // at least one
  std::vector<std::string> origin;  // names of the model's nodes that it computes
};

class Graph {
 public:
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  size_t value_count() const { return values_.size(); }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // The nodes that read the value, ascending, unique. Computed over the whole Graph on each call:
  // use uses() for several values.
  std::vector<std::vector<NodeId>> uses() const;

  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Constant constant);
  // Appends a node. The operator determines the types of its outputs; fails if the operands do not
  // fit it. Names of outputs are made unique.
  Result<std::vector<ValueId>> add(Node node, std::span<const std::string> output_names = {});
  // The same for a node whose results have the given `types`, without building its Dag: for passes
  // that keep a node.
  std::vector<ValueId> add_typed(Node node, std::span<const TensorType> types,
                                 std::span<const std::string> output_names = {});
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
  // The callers' name of an output may differ from the value's (an output that is an input or a
  // constant, or has two names).
  void set_output_names(std::vector<std::string> names) { output_names_ = std::move(names); }
  const std::vector<std::string>& output_names() const { return output_names_; }

  std::string to_string() const;  // one line per node

 private:
  ValueId add_value(std::string name, TensorType type);
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<std::string> output_names_;
  std::unordered_set<std::string> names_;  // of values
};

// Copies a Graph node by node for a pass: the pass decides what replaces each node, and values of
// the old Graph are mapped to the new one. Inputs and constants are copied at the start.
class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& from);
  const Graph& from() const { return from_; }
  Graph& to() { return to_; }
  ValueId at(ValueId old) const { return map_[old]; }  // in the new Graph
  void replace(ValueId old, ValueId now) { map_[old] = now; }
  // Copies the node with its operands mapped. Fails only if their types have changed incompatibly.
  Status keep(const Node& node);
  Graph finish() &&;  // maps the outputs

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
};

}  // namespace tilewright::graph
