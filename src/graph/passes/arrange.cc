#include "graph/passes/arrange.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "graph/passes/constant_math.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

ArrangeRule rule_of(const Node& node, const ArrangeOptions& options) {
  if (node.op == "transpose") return arrange_transpose;
  if (!options.push) return nullptr;
  if (node.op == "reshape") return arrange_reshape;
  if (node.op == "contract") return arrange_contract;
  for (const auto& rows : {moving_rules(), rows_rules(), window_rules()}) {
    const auto row = std::ranges::find(rows, node.op, &ArrangeRow::op);
    if (row != rows.end()) return row->rule;
  }
  return is_map(node) ? arrange_map : nullptr;
}

}  // namespace

Order own_order(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order channels_last_order(size_t rank) {
  Order order = own_order(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

int64_t position_of(const Order& order, int64_t dimension) {
  const auto at = std::ranges::find(order, dimension);
  CHECK(at != order.end());
  return at - order.begin();
}

std::vector<int64_t> permuted(const std::vector<int64_t>& list, const Order& order) {
  std::vector<int64_t> result;
  result.reserve(order.size());
  for (const int64_t dimension : order) result.push_back(list[static_cast<size_t>(dimension)]);
  return result;
}

bool moves_nothing(const Extents& shape, const Order& perm) {
  int64_t last = -1;
  for (const int64_t dimension : perm) {
    if (shape[static_cast<size_t>(dimension)] == 1) continue;
    if (dimension < last) return false;
    last = dimension;
  }
  return true;
}

bool same_bytes(const Extents& shape, const Order& have, const Order& want) {
  Order perm;
  perm.reserve(want.size());
  for (const int64_t dimension : want) perm.push_back(position_of(have, dimension));
  return moves_nothing(permuted(shape, have), perm);
}

Arranger::Arranger(const Graph& from, ArrangeOptions options)
    : rewrite_(from), options_(options), uses_(from.uses()), orders_(from.value_count()) {
  for (ValueId v = 0; v < from.value_count(); ++v) orders_[v] = own_order(shape(v).size());
}

bool Arranger::is_output(ValueId old) const {
  return std::ranges::count(from().outputs(), old) > 0;
}

int64_t Arranger::cost(ValueId old, const Order& order) const {
  const TensorType& type = from().value(old).type;
  const bool known = !rewrite_.constant(rewrite_.at(old)).empty();
  return known || same_bytes(type.shape, orders_[old], order) ? 0 : type.bytes();
}

Result<ValueId> Arranger::in_order(ValueId old, const Order& order) {
  CHECK(!flattened_.contains(old));
  const Order& have = orders_[old];
  const ValueId now = rewrite_.at(old);
  if (have == order) return now;
  const auto key = std::make_pair(old, order);
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  Order perm;
  perm.reserve(order.size());
  for (const int64_t dimension : order) perm.push_back(position_of(have, dimension));
  Result<ValueId> made = kNone;
  if (moves_nothing(rewrite_.shape(now), perm)) {
    made = rewrite_.reshape(now, permuted(shape(old), order));
  } else if (!rewrite_.constant(now).empty()) {
    made = rewrite_.add_constant(transposed(rewrite_.constant(now), perm));
  } else {
    made = rewrite_.add("transpose", {now}, {{"perm", perm}});
  }
  if (made) made_.emplace(key, *made);
  return made;
}

Result<ValueId> Arranger::plain(ValueId old) {
  return old == kNone ? Result<ValueId>(kNone) : in_order(old, own_order(shape(old).size()));
}

Result<ValueId> Arranger::broadcast_in_order(ValueId old, const Order& order) {
  const Extents& shape = this->shape(old);
  if (from().value(old).type.elements() == 1 || order == own_order(order.size())) return plain(old);
  const auto missing = static_cast<int64_t>(order.size() - shape.size());
  Order own;          // order of the operand's own dimensions
  Extents with_ones;  // the shape under the result's dimensions
  for (const int64_t dimension : order) {
    if (dimension >= missing) own.push_back(dimension - missing);
    with_ones.push_back(dimension < missing ? 1 : shape[static_cast<size_t>(dimension - missing)]);
  }
  const ValueId now = TRY(in_order(old, own));
  const bool known = !rewrite_.constant(now).empty();
  if (missing == 0 && !known) return now;
  while (with_ones.size() > 1 && with_ones.front() == 1) with_ones.erase(with_ones.begin());
  return rewrite_.reshape(now, with_ones);
}

Order Arranger::cheapest(const std::vector<ValueId>& olds) const {
  const Order own = own_order(orders_[olds[0]].size());
  std::vector<Order> choices;
  for (const ValueId old : olds) {
    if (orders_[old] != own) choices.push_back(orders_[old]);
  }
  choices.push_back(own);
  const auto total = [&](const Order& order) {
    int64_t bytes = 0;
    for (const ValueId old : olds) bytes += cost(old, order);
    return bytes;
  };
  return *std::ranges::min_element(choices, {}, total);  // the first of the best
}

void Arranger::set(const Node& node, ValueId now, Order order) {
  const ValueId old = node.outputs[0];
  CHECK(rewrite_.shape(now) == permuted(shape(old), order));
  rewrite_.replace(old, now);
  orders_[old] = std::move(order);
}

Result<bool> Arranger::add(const Node& node, std::vector<ValueId> inputs, Attributes attributes,
                           Order order) {
  const auto now = TRY(rewrite_.add(node.op, std::move(inputs), std::move(attributes)));
  set(node, now, std::move(order));
  return true;
}

Status Arranger::keep_plain(const Node& node) {
  std::vector<ValueId> inputs;
  inputs.reserve(node.inputs.size());
  for (const ValueId input : node.inputs) {
    const auto now = TRY(plain(input));
    inputs.push_back(now);
  }
  const auto made = TRY(rewrite_.copy(node, std::move(inputs)));
  for (size_t i = 0; i < made.size(); ++i) rewrite_.replace(node.outputs[i], made[i]);
  return {};
}

Result<Graph> Arranger::run() && {
  for (const Node& node : from().nodes()) {
    rewrite_.enter(node);
    const ArrangeRule rule = node.outputs.size() == 1 ? rule_of(node, options_) : nullptr;
    if (rule != nullptr) {
      const bool done = TRY(rule(*this, node));
      if (done) continue;
    }
    TRY(keep_plain(node));
  }
  for (const ValueId output : from().outputs()) {
    const NodeId producer = from().value(output).producer;
    if (producer != kNone) rewrite_.enter(from().node(producer));
    const auto now = TRY(plain(output));
    rewrite_.replace(output, now);
    orders_[output] = own_order(shape(output).size());
  }
  return std::move(rewrite_).finish();
}

Result<Graph> arrange(const Graph& graph, ArrangeOptions options) {
  return Arranger(graph, options).run();
}

int64_t transposed_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op != "transpose" || graph.value(node.inputs[0]).is_constant()) continue;
    const TensorType& type = graph.value(node.inputs[0]).type;
    if (!moves_nothing(type.shape, node.attributes.list("perm"))) bytes += type.bytes();
  }
  return bytes;
}

}  // namespace tilewright::graph
