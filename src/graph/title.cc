#include "graph/title.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/ops/attention.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

std::string times(std::span<const int64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

// `s2` or `s2x1`; nothing where all are 1.
std::string steps(std::string_view letter, const Shape& values) {
  if (std::ranges::all_of(values, [](int64_t v) { return v == 1; })) return "";
  const bool same = std::ranges::all_of(values, [&](int64_t v) { return v == values[0]; });
  return same ? fmt::format(" {}{}", letter, values[0])
              : fmt::format(" {}{}", letter, fmt::join(values, "x"));
}

std::string conv_title(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[0]).type.shape;
  const Shape& w = graph.value(node.inputs[1]).type.shape;
  const Shape& y = graph.value(node.outputs[0]).type.shape;
  const bool last = node.attributes.integer("channels_last", 0) != 0;
  const int64_t groups = node.attributes.integer("groups", 1);
  const size_t rank = x.size() - 2;
  const int64_t in = last ? x.back() : x[1], out = last ? y.back() : y[1];
  const auto spatial = static_cast<std::ptrdiff_t>(rank);
  const Shape window =
      last ? Shape(w.begin(), w.begin() + spatial) : Shape(w.end() - spatial, w.end());
  const std::string tail = steps("s", node.attributes.list("stride", Shape(rank, 1))) +
                           steps("d", node.attributes.list("dilation", Shape(rank, 1)));
  if (node.op == "conv" && groups == in && in == out && groups > 1) {
    return fmt::format("depthwise{}d {} {}{}", rank, times(window), in, tail);
  }
  return fmt::format("{}{}d {} {}->{}{}{}", node.op, rank, times(window), in, out, tail,
                     groups > 1 ? fmt::format(" g{}", groups) : "");
}

std::string winograd_title(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).type.shape;
  return fmt::format("conv2d 3x3 {}->{} by winograd", w[2], w[3]);
}

// Letters of both operands and the result are a batch; of one operand and the result rows or
// columns; of both operands alone the sum.
std::string contract_title(const Graph& graph, const Node& node) {
  const std::string& a = node.attributes.text("a");
  const std::string& b = node.attributes.text("b");
  const std::string& out = node.attributes.text("out");
  int64_t batch = 1, rows = 1, columns = 1, sum = 1;
  const auto count = [&](const std::string& letters, const Shape& shape, bool first) {
    for (size_t d = 0; d < letters.size() && d < shape.size(); ++d) {
      const bool in_a = a.contains(letters[d]), in_b = b.contains(letters[d]);
      if (!first && in_a) continue;
      int64_t& factor = !out.contains(letters[d]) ? sum
                        : in_a && in_b            ? batch
                        : in_a                    ? rows
                                                  : columns;
      factor *= shape[d];
    }
  };
  count(a, graph.value(node.inputs[0]).type.shape, true);
  count(b, graph.value(node.inputs[1]).type.shape, false);
  const std::string size = fmt::format("{}x{}x{}", rows, columns, sum);
  return batch == 1 ? "matmul " + size : fmt::format("batch_matmul {}x{}", batch, size);
}

// The extents of batches, queries, keys, and of the summed dimensions.
std::string attention_title(const Graph& graph, const Node& node) {
  const auto letters = attention_letters(node.attributes);
  if (!letters) return node.op;
  const Shape& q = graph.value(node.inputs[0]).type.shape;
  const Shape& k = graph.value(node.inputs[1]).type.shape;
  int64_t batch = 1, queries = 1, keys = 1, sum = 1;
  for (size_t d = 0; d < q.size(); ++d) {
    const char letter = letters->q[d];
    int64_t& factor = letters->batch.contains(letter)   ? batch
                      : letters->query.contains(letter) ? queries
                                                        : sum;
    factor *= q[d];
  }
  for (size_t d = 0; d < k.size(); ++d) {
    if (letters->k[d] == letters->key[0]) keys = k[d];
  }
  return fmt::format("attention {}x{}x{}x{}", batch, queries, keys, sum);
}

std::string anchor_title(const Graph& graph, const Node& node) {
  if ((node.op == "conv" || node.op == "conv_transpose") && node.inputs.size() >= 2) {
    return conv_title(graph, node);
  }
  if (node.op == "conv_winograd") return winograd_title(graph, node);
  if (node.op == "contract") return contract_title(graph, node);
  if (node.op == "attention") return attention_title(graph, node);
  std::string name = node.op;
  if (node.op == "pool") {
    name = fmt::format("{}_pool {}{}", node.attributes.text("kind", "max"),
                       times(node.attributes.list("kernel", {})),
                       steps("s", node.attributes.list("stride", {})));
  } else if (node.op == "reduce" || node.op == "arg_reduce") {
    name = fmt::format("{} {}", node.op, node.attributes.text("kind", ""));
  }
  return fmt::format("{} {}", name, times(graph.value(node.outputs[0]).type.shape));
}

}  // namespace

std::string title_of(const Graph& graph, const FusedGroup& group, std::span<const NodeId> order) {
  std::vector<std::string> parts;
  parts.reserve(order.size());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (node.op == "reshape" && order.size() > 1) continue;
    parts.push_back(id == group.anchor ? anchor_title(graph, node) : node.op);
  }
  return fmt::format("{}", fmt::join(parts, " + "));
}

}  // namespace tilewright::graph
