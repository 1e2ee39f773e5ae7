// The rule for contractions: by relabeling letters, operands may be in any order, and the result is
// in the order that its readers prefer.
//
//   contract(transpose(x; [0,2,1,3]), y; a=bhik, b=bhkj, out=bhij)   ->   a=bihk
#include <algorithm>
#include <string>

#include "graph/passes/arrange.h"
#include "graph/passes/constant_math.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

constexpr int kDeepest = 4;  // elementwise nodes between a contraction and a transpose

std::string permuted_letters(const std::string& letters, const Order& order) {
  std::string result;
  for (const int64_t dimension : order) result += letters[static_cast<size_t>(dimension)];
  return result;
}

// The order of another operand of an elementwise node with that shape, such as a residual; its own
// order if none is permuted.
Order sibling_order(const Arranger& arranger, const Node& node, ValueId value) {
  Order own = own_order(arranger.shape(value).size());
  for (const ValueId other : node.inputs) {
    if (other == kNone || other == value || arranger.shape(other) != arranger.shape(value))
      continue;
    if (arranger.order(other) != own) return arranger.order(other);
  }
  return own;
}

bool reads_image(const Node& node, ValueId value) {
  return (node.op == "conv" || node.op == "conv_transpose") && node.inputs[0] == value &&
         node.attributes.integer("channels_last", 0) == 0;
}

// The order that the readers of a value prefer: that of transposes and convolutions that read it,
// also across elementwise nodes, or of a value that is added to it.
Order wanted_order(const Arranger& arranger, ValueId value, int depth) {
  Order own = own_order(arranger.shape(value).size());
  const std::vector<NodeId>& readers = arranger.readers(value);
  if (arranger.is_output(value) || readers.empty() || depth == 0) return own;
  Order wanted;
  for (const NodeId id : readers) {
    const Node& node = arranger.from().node(id);
    Order order = own;
    if (node.op == "transpose") {
      order = node.attributes.list("perm");
    } else if (is_map(node) && arranger.shape(node.outputs[0]) == arranger.shape(value)) {
      order = sibling_order(arranger, node, value);
      if (order == own) order = wanted_order(arranger, node.outputs[0], depth - 1);
    } else if (arranger.options().windows && reads_image(node, value)) {
      order = channels_last_order(own.size());
    }
    if (!wanted.empty() && order != wanted) return own;
    wanted = std::move(order);
  }
  return wanted;
}

// Weights with dimension `at` permuted to the new order of a flattened image.
Constant reordered(const Constant& weights, size_t at, const Flattened& flat) {
  const Extents shape = weights.type().shape;
  Extents split(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(at));
  split.insert(split.end(), flat.shape.begin(), flat.shape.end());
  split.insert(split.end(), shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, shape.end());
  Order perm = own_order(split.size());
  for (size_t i = 0; i < flat.order.size(); ++i) {
    perm[at + i] = flat.order[i] + static_cast<int64_t>(at);
  }
  return transposed(weights.reshaped(split), perm).reshaped(shape);
}

// One operand is a flattened image; the weights of the other are reordered.
Result<bool> with_flattened(Arranger& arranger, const Node& node, size_t side) {
  const Flattened& flat = arranger.flattened().at(node.inputs[side]);
  const std::string& letters = node.attributes.text(side == 0 ? "a" : "b");
  const std::string& other = node.attributes.text(side == 0 ? "b" : "a");
  const Constant& weights = arranger.from().value(node.inputs[1 - side]).constant;
  const size_t at = other.find(letters[flat.dimension]);
  std::vector<ValueId> inputs(2);
  inputs[side] = arranger.rewrite().at(node.inputs[side]);
  inputs[1 - side] = arranger.rewrite().add_constant(reordered(weights, at, flat));
  const Order own = own_order(arranger.shape(node.outputs[0]).size());
  return arranger.add(node, inputs, node.attributes, own);
}

}  // namespace

Result<bool> arrange_contract(Arranger& arranger, const Node& node) {
  if (!arranger.options().contracts) return false;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    if (arranger.flattened().contains(node.inputs[side])) {
      return with_flattened(arranger, node, side);
    }
  }
  Attributes attributes = node.attributes;
  attributes.set("a", permuted_letters(node.attributes.text("a"), arranger.order(node.inputs[0])));
  attributes.set("b", permuted_letters(node.attributes.text("b"), arranger.order(node.inputs[1])));
  const Order order = wanted_order(arranger, node.outputs[0], kDeepest);
  attributes.set("out", permuted_letters(node.attributes.text("out"), order));
  if (attributes == node.attributes) return false;
  const std::vector<ValueId> inputs = arranger.rewrite().operands(node);
  return arranger.add(node, inputs, attributes, order);
}

}  // namespace tilewright::graph
