// Rules for reductions, softmax and norms.
#include <algorithm>
#include <array>

#include "graph/passes/arrange.h"

namespace tilewright::graph {
namespace {

bool in_own_order(const Arranger& arranger, ValueId old) {
  return arranger.order(old) == own_order(arranger.shape(old).size());
}

// The order without the dropped dimensions.
Order without(const Order& order, const std::vector<int64_t>& dropped) {
  Order left;
  for (const int64_t dimension : order) {
    if (std::ranges::count(dropped, dimension) > 0) continue;
    const auto before =
        std::ranges::count_if(dropped, [&](int64_t other) { return other < dimension; });
    left.push_back(dimension - before);
  }
  return left;
}

Result<bool> arrange_reduce(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  if (in_own_order(arranger, x)) return false;
  const Order& order = arranger.order(x);
  std::vector<int64_t> axes = axes_of(node, order.size());
  if (axes.empty()) return false;
  const Order left = node.attributes.integer("keep", 0) != 0 ? order : without(order, axes);
  for (int64_t& axis : axes) axis = position_of(order, axis);
  std::ranges::sort(axes);
  Attributes attributes = node.attributes;
  attributes.set("axes", axes);
  return arranger.add(node, {arranger.rewrite().at(x)}, attributes, left);
}

// Along one axis. The last dimension stays last.
Result<bool> along_axis(Arranger& arranger, const Node& node, int64_t fallback, bool dropped) {
  const ValueId x = node.inputs[0];
  if (in_own_order(arranger, x)) return false;
  const Order& order = arranger.order(x);
  const auto last = static_cast<int64_t>(order.size()) - 1;
  const int64_t axis = axis_of(node, order.size(), fallback);
  const int64_t place = position_of(order, axis);
  if (axis == last && place != last) return false;
  Attributes attributes = node.attributes;
  attributes.set("axis", place);
  return arranger.add(node, {arranger.rewrite().at(x)}, attributes,
                      dropped ? without(order, {axis}) : order);
}

Result<bool> arrange_arg_reduce(Arranger& arranger, const Node& node) {
  return along_axis(arranger, node, 0, node.attributes.integer("keep", 0) == 0);
}

Result<bool> arrange_softmax(Arranger& arranger, const Node& node) {
  return along_axis(arranger, node, -1, false);
}

Result<bool> arrange_scan(Arranger& arranger, const Node& node) {
  return along_axis(arranger, node, 0, false);
}

// Norms with one parameter per channel: lrn, group_norm, batch_norm and others.
Result<bool> by_channel(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  if (in_own_order(arranger, x)) return false;
  const Order order = arranger.order(x);
  if (order[0] != 0) return false;
  std::vector<ValueId> inputs{arranger.rewrite().at(x)};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const ValueId old = node.inputs[i];
    if (old != kNone && arranger.shape(old).size() > 1) return false;
    const auto now = TRY(arranger.plain(old));
    inputs.push_back(now);
  }
  Attributes attributes = node.attributes;
  attributes.set("axis", position_of(order, axis_of(node, order.size(), 1)));
  return arranger.add(node, inputs, attributes, order);
}

// Over the last dimensions, which must stay last, in their own order.
Result<bool> arrange_norm(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  if (in_own_order(arranger, x)) return false;
  const Order& have = arranger.order(x);
  const int64_t axis = axis_of(node, have.size(), -1);
  Order order;
  for (const int64_t dimension : have) {
    if (dimension < axis) order.push_back(dimension);
  }
  for (auto d = axis; d < static_cast<int64_t>(have.size()); ++d) order.push_back(d);
  const size_t last = have.size() - static_cast<size_t>(axis);
  std::vector<ValueId> inputs;
  inputs.reserve(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId old = node.inputs[i];
    if (i > 0 && old != kNone && arranger.shape(old).size() > last) return false;
    const auto now = TRY(i == 0 ? arranger.in_order(x, order) : arranger.plain(node.inputs[i]));
    inputs.push_back(now);
  }
  return arranger.add(node, inputs, node.attributes, order);
}

constexpr std::array kRows = {
    ArrangeRow{"arg_reduce", arrange_arg_reduce}, ArrangeRow{"batch_norm", by_channel},
    ArrangeRow{"cum_sum", arrange_scan},          ArrangeRow{"dequantize_linear", by_channel},
    ArrangeRow{"group_norm", by_channel},         ArrangeRow{"layer_norm", arrange_norm},
    ArrangeRow{"lp_norm", arrange_softmax},       ArrangeRow{"lrn", by_channel},
    ArrangeRow{"quantize_linear", by_channel},    ArrangeRow{"reduce", arrange_reduce},
    ArrangeRow{"rms_norm", arrange_norm},         ArrangeRow{"softmax", arrange_softmax},
};

}  // namespace

std::span<const ArrangeRow> rows_rules() { return kRows; }

}  // namespace tilewright::graph
