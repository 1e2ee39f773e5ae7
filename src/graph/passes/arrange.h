// Arranger: moves transposes through a Graph. Each value of the old Graph has an Order of its
// dimensions in the new one. A transpose only changes that order; a node is added when a reader
// needs the value in another order.
//
//   transpose(x; [0,2,3,1])    no node: dimension j of the new value is dimension order[j]
//   relu(y)                    the same node, in the order of y
//   concat(y, z; axis=3)       in the order that moves the fewest bytes; the axis follows
//   conv(y, w)                 in channels-last order (by `windows`)
//   contract(y, z)             letters are relabeled (by `contracts`)
//   others, outputs            y in its own order: one transpose, or a reshape if only dimensions
//                              of extent 1 are permuted, or a transposed constant
//
// The passes channels_last, absorb_transposes and cancel_transposes use it with different rules.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

using Order = std::vector<int64_t>;

struct ArrangeOptions {
  bool push = true;        // through nodes with rules; else transposes only cancel each other
  bool contracts = false;  // contractions read and write any order
  bool windows = false;    // convolutions use channels last
};

// A dimension that a reshape merged from several in another order: a flattened image that a
// contraction reads, whose constant weights are reordered instead.
struct Flattened {
  std::vector<int64_t> shape;  // of the old dimensions that became this one
  Order order;                 // their order
  size_t dimension = 0;
};

class Arranger {
 public:
  Arranger(const Graph& from, ArrangeOptions options);
  Result<Graph> run() &&;

  // For the rules.
  const Graph& from() const { return rewrite_.from(); }
  Rewrite& rewrite() { return rewrite_; }
  const ArrangeOptions& options() const { return options_; }
  const std::vector<NodeId>& readers(ValueId old) const { return uses_[old]; }
  bool is_output(ValueId old) const;
  const std::vector<int64_t>& shape(ValueId old) const { return from().value(old).type.shape; }
  const Order& order(ValueId old) const { return orders_[old]; }
  // The bytes moved to bring it into that order.
  int64_t cost(ValueId old, const Order& order) const;
  Result<ValueId> in_order(ValueId old, const Order& order);
  Result<ValueId> plain(ValueId old);
  // The value as an operand that broadcasts to a result in that order.
  Result<ValueId> broadcast_in_order(ValueId old, const Order& order);
  // The order among those of `olds` with the lowest total cost; all have the same rank.
  Order cheapest(const std::vector<ValueId>& olds) const;
  // For nodes with one result.
  void set(const Node& node, ValueId now, Order order);
  // Returns true, so that a rule can return the result of `add`.
  Result<bool> add(const Node& node, std::vector<ValueId> inputs, Attributes attributes,
                   Order order);
  Status keep_plain(const Node& node);

  std::map<ValueId, Flattened>& flattened() { return flattened_; }

 private:
  Rewrite rewrite_;
  ArrangeOptions options_;
  std::vector<std::vector<NodeId>> uses_;
  std::vector<Order> orders_;
  std::map<std::pair<ValueId, Order>, ValueId> made_;
  std::map<ValueId, Flattened> flattened_;
};

Order own_order(size_t rank);
Order channels_last_order(size_t rank);                      // 0, 2, ..., 1
int64_t position_of(const Order& order, int64_t dimension);  // the position of the dimension
std::vector<int64_t> permuted(const std::vector<int64_t>& list, const Order& order);
// Whether permuting the dimensions by `perm` leaves the bytes unchanged.
bool moves_nothing(const std::vector<int64_t>& shape, const Order& perm);
// Whether order `have` can be read as `want` without moving bytes.
bool same_bytes(const std::vector<int64_t>& shape, const Order& have, const Order& want);

// Rules by op name. A rule returns false if it does not apply; the node then keeps its own order.
using ArrangeRule = Result<bool> (*)(Arranger& arranger, const Node& node);
struct ArrangeRow {
  std::string_view op;
  ArrangeRule rule;
};
Result<bool> arrange_map(Arranger& arranger, const Node& node);
Result<bool> arrange_transpose(Arranger& arranger, const Node& node);
Result<bool> arrange_reshape(Arranger& arranger, const Node& node);
Result<bool> arrange_contract(Arranger& arranger, const Node& node);
std::span<const ArrangeRow> moving_rules();
std::span<const ArrangeRow> rows_rules();
std::span<const ArrangeRow> window_rules();

Result<Graph> arrange(const Graph& graph, ArrangeOptions options);

// The bytes of the results of all transposes that move elements.
int64_t transposed_bytes(const Graph& graph);

}  // namespace tilewright::graph
