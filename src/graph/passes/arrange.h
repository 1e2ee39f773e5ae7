// Arranger: moves transposes through a Graph. Each value of the old Graph has an Order, in which
// its dimensions lie in the new one; a transpose only changes what order that is, and no node is
// made for it until somebody needs the value in another order.
//
//   transpose(x; [0,2,3,1])    no node: dimension j of what is there is dimension order[j]
//   relu(y)                    the same node on what is there
//   concat(y, z; axis=3)       in the order that moves the fewest bytes; axis where 3 lies
//   conv(y, w)                 in channels-last order (by `windows`)
//   contract(y, z)             letters are relabelled (by `contracts`)
//   others, outputs            y in its own order: one transpose, or a reshape where only
//                              dimensions of extent 1 change places, or a moved constant
//
// The passes channels_last, absorb_transposes and cancel_transposes are this with more or fewer of
// its rules.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

using Order = std::vector<int64_t>;

struct ArrangeOptions {
  bool push = true;        // through what has rules; else transposes only meet each other
  bool contracts = false;  // contractions read and write any order
  bool windows = false;    // convolutions ask for channels last
};

// What of a dimension that a reshape made of several is in another order: a flattened image that
// goes to a contraction with constant weights, which are reordered instead.
struct Flattened {
  std::vector<int64_t> shape;  // of the old dimensions that became this one
  Order order;                 // of them
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
  // Bytes that are moved to bring it there.
  int64_t cost(ValueId old, const Order& order) const;
  Result<ValueId> in_order(ValueId old, const Order& order);
  Result<ValueId> plain(ValueId old);
  // As an operand that is broadcast to a result in that order.
  Result<ValueId> broadcast_in_order(ValueId old, const Order& order);
  // The order of one of these that costs least for all; all of one rank.
  Order cheapest(const std::vector<ValueId>& olds) const;
  // Results of nodes with one.
  void set(const Node& node, ValueId now, Order order);
  // True, as a rule that applies gives it.
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
int64_t position_of(const Order& order, int64_t dimension);  // where the dimension lies
std::vector<int64_t> permuted(const std::vector<int64_t>& list, const Order& order);
// Whether moving dimensions by `perm` leaves the bytes as they are.
bool moves_nothing(const std::vector<int64_t>& shape, const Order& perm);
// `have` can be read as `want` without moving.
bool same_bytes(const std::vector<int64_t>& shape, const Order& have, const Order& want);

// Rules, by op name; false: none for this node, it is kept in its own order.
using ArrangeRule = Result<bool> (*)(Arranger& arranger, const Node& node);
struct ArrangeRow {
  std::string_view op;
  ArrangeRule rule;
};
Result<bool> arrange_map(Arranger& arranger, const Node& node);
Result<bool> arrange_transpose(Arranger& arranger, const Node& node);
Result<bool> arrange_reshape(Arranger& arranger, const Node& node);
Result<bool> arrange_contract(Arranger& arranger, const Node& node);
ArrangeRule moving_rule(std::string_view op);  // null: none
ArrangeRule rows_rule(std::string_view op);
ArrangeRule window_rule(std::string_view op);

Result<Graph> arrange(const Graph& graph, ArrangeOptions options);

// Bytes of results of transposes that move something.
int64_t transposed_bytes(const Graph& graph);

}  // namespace tilewright::graph
