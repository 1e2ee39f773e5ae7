// Graph: a model as a list of operators on tensors of known shapes. Values are what flows between
// nodes: inputs of the model, constants, and what nodes compute. Nodes are in topological order.
// Every node's operator is one of the table (graph/op_table.h): its attributes and the types of its
// operands give a te::Dag, and so the types of its results.
//
//   conv(x, w; stride 2) -> c        c: f32 [1, 112, 112, 64]
//   add(c, bias)         -> s
//   relu(s)              -> y
//
// A value, copied cheaply: constants are shared. Passes take a Graph and give another.
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
using NodeId = uint32_t;  // its place in Graph::nodes()
inline constexpr uint32_t kNone = 0xFFFFFFFF;

struct Value {
  std::string name;  // the model's, where it has one; unique
  TensorType type;
  Constant constant;        // empty unless it is known
  NodeId producer = kNone;  // none: an input or a constant
  bool is_constant() const { return !constant.empty(); }
};

struct Node {
  std::string op;  // of the table: `conv`
  Attributes attributes;
  std::vector<ValueId> inputs;      // kNone: an operand that is left out
  std::vector<ValueId> outputs;     // at least one
  std::vector<std::string> origin;  // names of the model's nodes that it stands for
};

class Graph {
 public:
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  size_t value_count() const { return values_.size(); }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // Nodes that read the value, ascending, unique. Computed on demand over the whole Graph: take it
  // once (uses()) where it is asked often.
  std::vector<std::vector<NodeId>> uses() const;

  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Constant constant);
  // Appends a node; its outputs' types follow from the operator. An error says what does not fit.
  // Names of outputs are made unique.
  Result<std::vector<ValueId>> add(Node node, std::span<const std::string> output_names = {});
  // The same for a node whose results are known to have `types`: no Dag is made. Passes keep nodes
  // that way.
  std::vector<ValueId> add_typed(Node node, std::span<const TensorType> types,
                                 std::span<const std::string> output_names = {});
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
  // The name under which callers know an output may differ from the value's (an output that is an
  // input or a constant, or is named twice).
  void set_output_names(std::vector<std::string> names) { output_names_ = std::move(names); }
  const std::vector<std::string>& output_names() const { return output_names_; }

  std::string to_string() const;  // one line a node

 private:
  ValueId add_value(std::string name, TensorType type);
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<std::string> output_names_;
  std::unordered_set<std::string> names_;  // of values
};

// Copies a Graph node by node while a pass changes it: the pass says for each node what becomes of
// it, and values of the old Graph are looked up in the new one. Inputs and constants are there from
// the start.
class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& from);
  const Graph& from() const { return from_; }
  Graph& to() { return to_; }
  ValueId at(ValueId old) const { return map_[old]; }  // in the new Graph
  void replace(ValueId old, ValueId now) { map_[old] = now; }
  // As it is, with its operands looked up. An error only where their types are others now.
  Status keep(const Node& node);
  Graph finish() &&;  // outputs looked up

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
};

}  // namespace tilewright::graph
