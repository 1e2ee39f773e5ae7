#include "graph/view.h"

#include <algorithm>

namespace tilewright::graph {

int64_t row_major_stride(const std::vector<int64_t>& extents, size_t dim) {
  int64_t stride = 1;
  for (size_t d = dim + 1; d < extents.size(); ++d) stride *= extents[d];
  return stride;
}

bool is_contiguous(const std::vector<int64_t>& shape, const std::vector<int64_t>& extents) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && row_major_stride(shape, d) != row_major_stride(extents, d)) return false;
  }
  return true;
}

std::optional<int64_t> view_offset(const Graph& graph, const Node& node) {
  if (node.op == "reshape") return 0;
  if (node.op != "slice") return std::nullopt;
  const TensorType& whole = graph.value(node.inputs[0]).type;
  const std::vector<int64_t>& shape = graph.value(node.outputs[0]).type.shape;
  const std::vector<int64_t> nought(shape.size(), 0), one(shape.size(), 1);
  const std::vector<int64_t> begin = node.attributes.list("begin", nought);
  const std::vector<int64_t> step = node.attributes.list("step", one);
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && step[d] != 1) return std::nullopt;
    offset += begin[d] * row_major_stride(whole.shape, d);
  }
  if (!is_contiguous(shape, whole.shape)) return std::nullopt;
  return offset * ir::bytes_of(whole.element);
}

bool reaches_output(const Graph& graph, const std::vector<std::vector<NodeId>>& uses,
                    ValueId value) {
  if (std::ranges::find(graph.outputs(), value) != graph.outputs().end()) return true;
  return std::ranges::any_of(uses[value], [&](NodeId reader) {
    const Node& node = graph.node(reader);
    return view_offset(graph, node) && reaches_output(graph, uses, node.outputs[0]);
  });
}

}  // namespace tilewright::graph
