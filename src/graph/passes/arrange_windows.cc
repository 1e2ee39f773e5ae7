// Rules for convolutions, pools and resize: channels last.
#include <array>
#include <ranges>
#include <string>

#include "graph/passes/arrange.h"

namespace tilewright::graph {
namespace {

bool is_channels_last(const Node& node) { return node.attributes.integer("channels_last", 0) != 0; }

// Whether the convolution is depthwise.
bool is_depthwise(const Arranger& arranger, const Node& node) {
  const int64_t groups = node.attributes.integer("groups", 1);
  return node.op == "conv" && groups > 1 && groups == arranger.shape(node.inputs[0])[1] &&
         groups == arranger.shape(node.inputs[1])[0];
}

Result<bool> with_weights(Arranger& arranger, const Node& node, const Order& weights) {
  const size_t rank = arranger.shape(node.inputs[0]).size();
  if (!arranger.options().windows || is_channels_last(node) || rank < 3) return false;
  const Order order = channels_last_order(rank);
  const auto x = TRY(arranger.in_order(node.inputs[0], order));
  ValueId w = TRY(arranger.in_order(node.inputs[1], weights));
  if (is_depthwise(arranger, node)) {
    std::vector<int64_t> shape = arranger.rewrite().shape(w);
    shape.erase(shape.end() - 2);
    w = TRY(arranger.rewrite().reshape(w, shape));
  }
  Attributes attributes = node.attributes;
  attributes.set("channels_last", int64_t{1});
  return arranger.add(node, {x, w}, attributes, order);
}

// w[co, ci, k...] -> w[k..., ci, co]; without ci if depthwise
Result<bool> arrange_conv(Arranger& arranger, const Node& node) {
  Order weights = own_order(arranger.shape(node.inputs[1]).size());
  weights.erase(weights.begin(), weights.begin() + 2);
  weights.push_back(1);
  weights.push_back(0);
  return with_weights(arranger, node, weights);
}

// w[ci, co, k...] -> w[k..., ci, co]
Result<bool> arrange_conv_transpose(Arranger& arranger, const Node& node) {
  Order weights = own_order(arranger.shape(node.inputs[1]).size());
  weights.erase(weights.begin(), weights.begin() + 2);
  weights.push_back(0);
  weights.push_back(1);
  return with_weights(arranger, node, weights);
}

// In the order of the operand.
Result<bool> arrange_pool(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  const Order order = channels_last_order(arranger.shape(x).size());
  if (is_channels_last(node) || arranger.order(x) == own_order(order.size())) return false;
  if (!same_bytes(arranger.shape(x), arranger.order(x), order)) return false;
  const auto now = TRY(arranger.in_order(x, order));
  Attributes attributes = node.attributes;
  attributes.set("channels_last", int64_t{1});
  return arranger.add(node, {now}, attributes, order);
}

// "1,1,2,3" in another order; each of several concatenated lists.
std::string permuted_text(const std::string& text, const Order& order) {
  std::vector<std::string_view> words;
  for (const auto word : std::views::split(text, ',')) words.emplace_back(word.begin(), word.end());
  std::string result;
  for (size_t first = 0; first + order.size() <= words.size(); first += order.size()) {
    for (const int64_t dimension : order) {
      if (!result.empty()) result += ',';
      result += words[first + static_cast<size_t>(dimension)];
    }
  }
  return result;
}

Result<bool> arrange_resize(Arranger& arranger, const Node& node) {
  const ValueId x = node.inputs[0];
  const Order order = arranger.order(x);
  if (order == own_order(order.size())) return false;
  Attributes attributes = node.attributes;
  attributes.set("to", permuted(node.attributes.list("to"), order));
  for (const char* name : {"scales", "roi"}) {
    if (attributes.has(name)) attributes.set(name, permuted_text(attributes.text(name), order));
  }
  return arranger.add(node, {arranger.rewrite().at(x)}, attributes, order);
}

constexpr std::array kRows = {
    ArrangeRow{"conv", arrange_conv},
    ArrangeRow{"conv_transpose", arrange_conv_transpose},
    ArrangeRow{"pool", arrange_pool},
    ArrangeRow{"resize", arrange_resize},
};

}  // namespace

std::span<const ArrangeRow> window_rules() { return kRows; }

}  // namespace tilewright::graph
