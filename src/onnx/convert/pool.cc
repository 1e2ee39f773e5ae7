// Pooling.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/convert/direct.h"
#include "onnx/convert/window.h"

namespace tilewright::onnx {
namespace {

// With ceil_mode the last window may extend beyond the end: the pads at the end grow, and the
// difference is returned. A window that would begin beyond the elements is omitted.
Shape grow_to_ceiling(Window& window, std::span<const int64_t> spatial) {
  Shape grown(spatial.size(), 0);
  for (size_t k = 0; k < spatial.size(); ++k) {
    const int64_t room = spatial[k] + window.begin[k] + window.end[k] - covered(window, k);
    if (room < 0) continue;
    int64_t last = (room + window.stride[k] - 1) / window.stride[k] * window.stride[k];
    if (last >= spatial[k] + window.begin[k]) last -= window.stride[k];
    grown[k] = std::max<int64_t>(last - room, 0);
    window.end[k] += grown[k];
  }
  return grown;
}

template <OpName kind>
std::vector<Tensor> convert_pool(Conversion& node) {
  const Tensor x = node.operand(0);
  if (x->rank() < 3) refuse(fmt::format("{} has no spatial dimensions", x->type.to_string()));
  const std::span<const int64_t> spatial = std::span(x->shape()).subspan(2);
  const NodeReader& from = node.attributes();
  Window window = window_of(node, from.list("kernel_shape"), spatial);
  Shape grown(spatial.size(), 0);
  if (from.integer("ceil_mode", 0) != 0) grown = grow_to_ceiling(window, spatial);
  graph::Attributes attributes = window_attributes(window);
  attributes.set("kind", std::string(kind.view()));
  attributes.set("kernel", window.kernel);
  if (kind.view() == "average") {
    const int64_t include = from.integer("count_include_pad", 0);
    attributes.set("count_include_pad", include);
    if (include != 0) attributes.set("ceil_pad", grown);
  }
  if (kind.view() == "lp") attributes.set("p", from.integer("p", 2));
  return {node.result("pool", std::move(attributes), {x})};
}

Shape spatial_axes(Tensor x) {
  if (x->rank() < 3) refuse(fmt::format("{} has no spatial dimensions", x->type.to_string()));
  Shape axes = iota(x->rank());
  axes.erase(axes.begin(), axes.begin() + 2);
  return axes;
}

template <OpName kind>
std::vector<Tensor> convert_global_pool(Conversion& node) {
  const Tensor x = node.operand(0);
  return {node.result(
      "reduce",
      {{"kind", std::string(kind.view())}, {"axes", spatial_axes(x)}, {"keep", int64_t{1}}}, {x})};
}

std::vector<Tensor> convert_global_lp_pool(Conversion& node) {
  const int64_t p = node.attributes().integer("p", 2);
  if (p == 1) return convert_global_pool<"l1">(node);
  if (p == 2) return convert_global_pool<"l2">(node);
  not_supported(fmt::format("p is {}; 1 and 2 are supported", p));
}

constexpr ConverterRow kRows[] = {
    {"AveragePool", convert_pool<"average">}, {"GlobalAveragePool", convert_global_pool<"mean">},
    {"GlobalLpPool", convert_global_lp_pool}, {"GlobalMaxPool", convert_global_pool<"max">},
    {"LpPool", convert_pool<"lp">},           {"MaxPool", convert_pool<"max">},
};

}  // namespace

std::span<const ConverterRow> pool_converters() { return kRows; }

}  // namespace tilewright::onnx
