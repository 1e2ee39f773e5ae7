// Resize and Upsample.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

// The extents of the result, and their scale factors.
struct Target {
  Shape to;
  std::vector<double> scales;
};

Shape axes_of(Conversion& node, size_t rank) {
  const Shape axes = node.attributes().list("axes", iota(rank));
  resolve_axes(axes, rank);
  return axes;
}

std::vector<double> known_numbers(Conversion& node, size_t k, std::string_view what) {
  const graph::Constant constant = node.known(k, what);
  if (constant.type().shape.size() != 1 || constant.type().elements() > 32) {
    refuse(fmt::format("its {} are {}", what, constant.type().to_string()));
  }
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(constant.type().elements()));
  for (int64_t n = 0; n < constant.type().elements(); ++n) numbers.push_back(constant.number(n));
  return numbers;
}

Target by_scales(const Shape& shape, const Shape& axes, const std::vector<double>& scales) {
  if (scales.size() != axes.size()) {
    refuse(fmt::format("{} scales for {} dimensions", scales.size(), axes.size()));
  }
  Target target{.to = shape, .scales = std::vector<double>(shape.size(), 1)};
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t axis = resolve_axis(axes[k], shape.size());
    const double extent = std::floor(static_cast<double>(shape[axis]) * scales[k]);
    if (!(scales[k] > 0) || !(extent >= 1) || extent > 1e9) {
      refuse(fmt::format("a scale of {} for an extent of {}", scales[k], shape[axis]));
    }
    target.to[axis] = static_cast<int64_t>(extent);
    target.scales[axis] = scales[k];
  }
  return target;
}

Target by_sizes(Conversion& node, const Shape& shape, const Shape& axes, const Shape& sizes) {
  if (sizes.size() != axes.size()) {
    refuse(fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  }
  Target target{.to = shape, .scales = std::vector<double>(shape.size(), 1)};
  std::vector<double> ratios;
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t axis = resolve_axis(axes[k], shape.size());
    if (sizes[k] < 1 || sizes[k] > 1'000'000'000) refuse(fmt::format("a size of {}", sizes[k]));
    target.to[axis] = sizes[k];
    ratios.push_back(static_cast<double>(sizes[k]) / static_cast<double>(shape[axis]));
    target.scales[axis] = ratios.back();
  }
  const std::string policy = node.attributes().text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || ratios.empty()) return target;
  const double scale = policy == "not_larger" ? std::ranges::min(ratios) : std::ranges::max(ratios);
  for (const int64_t given : axes) {
    const size_t axis = resolve_axis(given, shape.size());
    target.to[axis] =
        static_cast<int64_t>(std::floor(scale * static_cast<double>(shape[axis]) + 0.5));
    target.scales[axis] = scale;
  }
  return target;
}

// Operands are x, scales (until version 10) or x, roi, scales, sizes; an empty one is omitted.
Target target_of(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape axes = axes_of(node, x->rank());
  const size_t scales = node.version() < 11 ? 1 : 2;
  if (node.has(scales) && node.operand(scales)->type.elements() != 0) {
    return by_scales(x->shape(), axes, known_numbers(node, scales, "scales"));
  }
  if (!node.has(3)) refuse("it has neither scales nor sizes");
  return by_sizes(node, x->shape(), axes, node.known_integers(3, "sizes"));
}

std::string joined(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::vector<Tensor> convert_resize(Conversion& node) {
  const Tensor x = node.operand(0);
  const Target target = target_of(node);
  const NodeReader& from = node.attributes();
  const bool old = node.version() < 11;
  const std::string coordinates =
      from.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  if (coordinates == "tf_half_pixel_for_nn") not_supported("places of tf_half_pixel_for_nn");
  graph::Attributes attributes{
      {"to", target.to},
      {"mode", from.text("mode", "nearest")},
      {"coordinates", coordinates},
      {"rounding", from.text("nearest_mode", old ? "floor" : "round_prefer_floor")},
      {"scales", joined(target.scales)},
      {"cubic_a", from.number("cubic_coeff_a", -0.75)},
      {"exclude_outside", from.integer("exclude_outside", 0)},
      {"antialias", from.integer("antialias", 0)}};
  if (coordinates == "tf_crop_and_resize") {
    std::vector<double> roi(2 * x->rank(), 0);  // all begins, then all ends
    std::fill_n(roi.begin() + static_cast<ptrdiff_t>(x->rank()), x->rank(), 1);
    const Shape axes = axes_of(node, x->rank());
    const std::vector<double> given = known_numbers(node, 1, "roi");
    if (given.size() != 2 * axes.size()) refuse(fmt::format("{} numbers in roi", given.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t axis = resolve_axis(axes[k], x->rank());
      roi[axis] = given[k];
      roi[x->rank() + axis] = given[axes.size() + k];
    }
    attributes.set("roi", joined(roi));
    attributes.set("extrapolation", from.number("extrapolation_value", 0));
  }
  return {node.result("resize", std::move(attributes), {x})};
}

// Upsample: scales are an attribute until version 9, coordinates are asymmetric.
std::vector<Tensor> convert_upsample(Conversion& node) {
  const Tensor x = node.operand(0);
  const std::vector<double> scales =
      node.version() < 9 ? node.attributes().numbers("scales") : known_numbers(node, 1, "scales");
  const Target target = by_scales(x->shape(), iota(x->rank()), scales);
  return {node.result("resize",
                      {{"to", target.to},
                       {"mode", node.attributes().text("mode", "nearest")},
                       {"coordinates", "asymmetric"},
                       {"rounding", "floor"},
                       {"scales", joined(target.scales)}},
                      {x})};
}

constexpr ConverterRow kRows[] = {
    {"Resize", convert_resize},
    {"Upsample", convert_upsample},
};

}  // namespace

std::span<const ConverterRow> resize_converters() { return kRows; }

}  // namespace tilewright::onnx
