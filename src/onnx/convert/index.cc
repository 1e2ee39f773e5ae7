// Elements by index, and triangles.
#include <fmt/format.h>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

int64_t axis_of(Conversion& node) {
  return static_cast<int64_t>(
      resolve_axis(node.attributes().integer("axis", 0), node.operand(0)->rank()));
}

template <bool elements>
std::vector<Tensor> convert_gather(Conversion& node) {
  const Tensor x = node.operand(0);
  const Tensor indices = node.operand(1);
  if (!elements && indices->type.elements() == 0) {
    Shape shape = x->shape();
    const auto at = shape.erase(shape.begin() + axis_of(node));
    shape.insert(at, indices->shape().begin(), indices->shape().end());
    return {node.empty({.element = x->element(), .shape = std::move(shape)})};
  }
  return {node.result(elements ? "gather_elements" : "gather", {{"axis", axis_of(node)}},
                      {x, indices})};
}

std::vector<Tensor> convert_gather_nd(Conversion& node) {
  return {node.result("gather_nd", {{"batch_dims", node.attributes().integer("batch_dims", 0)}},
                      {node.operand(0), node.operand(1)})};
}

std::vector<Tensor> convert_scatter_elements(Conversion& node) {
  return {node.result(
      "scatter_elements",
      {{"axis", axis_of(node)}, {"reduction", node.attributes().text("reduction", "none")}},
      {node.operand(0), node.operand(1), node.operand(2)})};
}

std::vector<Tensor> convert_scatter_nd(Conversion& node) {
  if (node.operand(1)->type.elements() == 0) return {node.operand(0)};
  return {node.result("scatter_nd", {{"reduction", node.attributes().text("reduction", "none")}},
                      {node.operand(0), node.operand(1), node.operand(2)})};
}

std::vector<Tensor> convert_trilu(Conversion& node) {
  const int64_t diagonal = node.has(1) ? node.known_integer(1, "k") : 0;
  return {node.result("trilu", {{"upper", node.attributes().integer("upper", 1)}, {"k", diagonal}},
                      {node.operand(0)})};
}

// The first lengths[b] elements of a sequence in reverse order; the others unchanged.
std::vector<Tensor> convert_reverse_sequence(Conversion& node) {
  const Tensor x = node.operand(0);
  const auto time = resolve_axis(node.attributes().integer("time_axis", 0), x->rank());
  const auto batch = resolve_axis(node.attributes().integer("batch_axis", 1), x->rank());
  const graph::Constant lengths = node.known(1, "sequence_lens");
  const int64_t steps = x->shape()[time];
  const int64_t count = x->shape()[batch];
  if (time == batch ||
      lengths.type() != graph::TensorType{.element = Scalar::I64, .shape = {count}}) {
    refuse(fmt::format("lengths of {} for {}", lengths.type().to_string(), x->type.to_string()));
  }
  node.charge({.element = Scalar::I64, .shape = {steps, count}});
  std::vector<int64_t> places;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t b = 0; b < count; ++b) {
      const int64_t length = lengths.integer(b);
      if (length < 0 || length > steps) refuse(fmt::format("a length of {}", length));
      places.push_back(t < length ? length - 1 - t : t);
    }
  }
  Shape shape = ones(x->rank());
  shape[time] = steps;
  shape[batch] = count;
  Tensor indices = node.constant(graph::Constant::of_integers({steps, count}, places));
  if (batch < time) indices = node.transpose(indices, {1, 0});
  const Tensor spread = node.broadcast(node.reshape(indices, shape), x->shape());
  return {node.result("gather_elements", {{"axis", static_cast<int64_t>(time)}}, {x, spread})};
}

constexpr ConverterRow kRows[] = {
    {"Gather", convert_gather<false>},     {"GatherElements", convert_gather<true>},
    {"GatherND", convert_gather_nd},       {"ReverseSequence", convert_reverse_sequence},
    {"Scatter", convert_scatter_elements}, {"ScatterElements", convert_scatter_elements},
    {"ScatterND", convert_scatter_nd},     {"Trilu", convert_trilu},
};

}  // namespace

std::span<const ConverterRow> index_converters() { return kRows; }

}  // namespace tilewright::onnx
