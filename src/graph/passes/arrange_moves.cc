// Rules for Map and Move nodes: transpose, reshape, concat, slice, pad, tile, broadcast.
#include <algorithm>
#include <array>
#include <numeric>

#include "graph/passes/arrange.h"
#include "graph/passes/reshape_parts.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

// The first `count` operands in the order of the result, the others in their own.
Result<std::vector<ValueId>> operands_in_order(Arranger& arranger, const Node& node,
                                               const Order& order, size_t first) {
  std::vector<ValueId> inputs;
  inputs.reserve(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId old = node.inputs[i];
    const bool moved = i < first && old != kNone;
    const auto now = TRY(moved ? arranger.broadcast_in_order(old, order) : arranger.plain(old));
    inputs.push_back(now);
  }
  return inputs;
}

// The same node with lists of one number per dimension, in the order of its operand.
Result<bool> with_lists(Arranger& arranger, const Node& node,
                        std::initializer_list<std::string_view> names) {
  const Order order = arranger.order(node.inputs[0]);
  if (order == own_order(order.size())) return false;
  Attributes attributes = node.attributes;
  for (const std::string_view name : names) {
    if (!attributes.has(name)) continue;
    attributes.set(std::string(name), permuted(node.attributes.list(name), order));
  }
  std::vector<ValueId> inputs{arranger.rewrite().at(node.inputs[0])};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const auto now = TRY(arranger.plain(node.inputs[i]));
    inputs.push_back(now);
  }
  return arranger.add(node, inputs, attributes, order);
}

Result<bool> arrange_slice(Arranger& arranger, const Node& node) {
  return with_lists(arranger, node, {"begin", "size", "step"});
}

Result<bool> arrange_pad(Arranger& arranger, const Node& node) {
  return with_lists(arranger, node, {"before", "after"});
}

Result<bool> arrange_tile(Arranger& arranger, const Node& node) {
  return with_lists(arranger, node, {"repeats"});
}

Result<bool> arrange_concat(Arranger& arranger, const Node& node) {
  const Order order = arranger.cheapest(node.inputs);
  if (order == own_order(order.size())) return false;
  std::vector<ValueId> inputs;
  inputs.reserve(node.inputs.size());
  for (const ValueId old : node.inputs) {
    const auto now = TRY(arranger.in_order(old, order));
    inputs.push_back(now);
  }
  Attributes attributes = node.attributes;
  attributes.set("axis", position_of(order, axis_of(node, order.size(), 0)));
  return arranger.add(node, inputs, attributes, order);
}

Result<bool> arrange_broadcast(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  const Extents& shape = arranger.shape(node.outputs[0]);
  if (arranger.order(x) == own_order(arranger.shape(x).size())) return false;
  Order order = arranger.order(x);  // new dimensions in front
  const auto missing = static_cast<int64_t>(shape.size() - order.size());
  for (int64_t& dimension : order) dimension += missing;
  const Order front = own_order(static_cast<size_t>(missing));
  order.insert(order.begin(), front.begin(), front.end());
  return arranger.add(node, {arranger.rewrite().at(x)}, {{"shape", permuted(shape, order)}}, order);
}

// The position of the first dimension of a part that is larger than 1; parts without one follow the
// part before them.
std::vector<int64_t> places_of(const std::vector<ReshapePart>& parts, const Extents& shape,
                               const Order& order) {
  std::vector<int64_t> places;
  int64_t last = -1;
  for (const ReshapePart& part : parts) {
    for (size_t i = part.from; i < part.from + part.count; ++i) {
      if (shape[i] == 1) continue;
      last = position_of(order, static_cast<int64_t>(i));
      break;
    }
    places.push_back(last);
  }
  return places;
}

// Whether each reader of a flattened image is a contraction with constant weights that sums over
// the dimension.
bool only_contracted(const Arranger& arranger, ValueId value, size_t dimension) {
  if (arranger.is_output(value) || arranger.readers(value).empty()) return false;
  return std::ranges::all_of(arranger.readers(value), [&](NodeId id) {
    const Node& node = arranger.from().node(id);
    if (node.op != "contract" || node.inputs[0] == node.inputs[1]) return false;
    const size_t side = node.inputs[0] == value ? 0 : 1;
    const std::string letters = node.attributes.text(side == 0 ? "a" : "b");
    const std::string other = node.attributes.text(side == 0 ? "b" : "a");
    const Value& weights = arranger.from().value(node.inputs[1 - side]);
    const size_t at = other.find(letters[dimension]);
    const bool once = std::ranges::count(letters, letters[dimension]) == 1 &&
                      std::ranges::count(other, letters[dimension]) == 1;
    return once && weights.is_constant() &&
           weights.type.shape[at] == arranger.shape(value)[dimension] &&
           node.attributes.text("out").find(letters[dimension]) == std::string::npos;
  });
}

// reshape(image; [n, c*h*w]) whose readers can take the elements in another order.
Result<bool> flatten(Arranger& arranger, const Node& node, const std::vector<ReshapePart>& parts) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Order& order = arranger.order(x);
  if (!arranger.options().contracts || !arranger.options().windows) return false;
  for (const ReshapePart& part : parts) {
    if (part.count < 2) continue;
    if (part.made != 1 || !only_contracted(arranger, y, part.to)) return false;
    Flattened flat{.shape = {}, .order = {}, .dimension = part.to};
    Order own = own_order(order.size());  // all others in front, in their own order
    for (size_t i = 0; i < part.count; ++i) flat.shape.push_back(arranger.shape(x)[part.from + i]);
    for (const int64_t dimension : order) {
      const int64_t inside = dimension - static_cast<int64_t>(part.from);
      if (inside >= 0 && inside < static_cast<int64_t>(part.count)) flat.order.push_back(inside);
    }
    for (size_t i = 0; i < part.count; ++i) {
      own[part.from + i] = flat.order[i] + static_cast<int64_t>(part.from);
    }
    if (!same_bytes(arranger.shape(x), order, own)) return false;
    const auto now = TRY(arranger.rewrite().reshape(arranger.rewrite().at(x), arranger.shape(y)));
    arranger.set(node, now, own_order(arranger.shape(y).size()));
    arranger.flattened().emplace(y, flat);
    return true;
  }
  return false;
}

constexpr std::array kRows = {
    ArrangeRow{"broadcast", arrange_broadcast},
    ArrangeRow{"concat", arrange_concat},
    ArrangeRow{"pad", arrange_pad},
    ArrangeRow{"slice", arrange_slice},
    ArrangeRow{"tile", arrange_tile},
};

}  // namespace

std::span<const ArrangeRow> moving_rules() { return kRows; }

Result<bool> arrange_map(Arranger& arranger, const Node& node) {
  const size_t rank = arranger.shape(node.outputs[0]).size();
  std::vector<ValueId> whole;  // operands that have all dimensions
  for (const ValueId old : node.inputs) {
    if (old != kNone && arranger.shape(old).size() == rank) whole.push_back(old);
  }
  if (whole.empty()) return false;
  const Order order = arranger.cheapest(whole);
  if (order == own_order(rank)) return false;
  const auto inputs = TRY(operands_in_order(arranger, node, order, node.inputs.size()));
  return arranger.add(node, inputs, node.attributes, order);
}

Result<bool> arrange_transpose(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  const Order& perm = node.attributes.list("perm");
  Order order;
  for (const int64_t dimension : arranger.order(x)) order.push_back(position_of(perm, dimension));
  arranger.set(node, arranger.rewrite().at(x), std::move(order));
  return true;
}

Result<bool> arrange_reshape(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Extents& before = arranger.shape(x);
  if (arranger.order(x) == own_order(before.size())) return false;
  const std::vector<ReshapePart> parts = reshape_parts(before, arranger.shape(y));
  const Result<bool> flat = flatten(arranger, node, parts);
  if (!flat || *flat) return flat;
  // Parts in their order in memory; the dimensions of each in its own order.
  const std::vector<int64_t> places = places_of(parts, before, arranger.order(x));
  std::vector<size_t> sorted(parts.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, {}, [&](size_t i) { return std::make_pair(places[i], i); });
  Order wanted;
  Order order;
  for (const size_t i : sorted) {
    for (size_t d = 0; d < parts[i].count; ++d) {
      wanted.push_back(static_cast<int64_t>(parts[i].from + d));
    }
    for (size_t d = 0; d < parts[i].made; ++d) {
      order.push_back(static_cast<int64_t>(parts[i].to + d));
    }
  }
  const auto moved = TRY(arranger.in_order(x, wanted));
  const auto now = TRY(arranger.rewrite().reshape(moved, permuted(arranger.shape(y), order)));
  arranger.set(node, now, std::move(order));
  return true;
}

}  // namespace tilewright::graph
