// Operators that reshape or transpose, and operators on shapes.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

// Axes were an attribute until version 13, then an operand.
Shape axes_of(Conversion& node) {
  return node.version() < 13 ? node.attributes().list("axes", {})
         : node.has(1)       ? node.known_integers(1, "axes")
                             : Shape();
}

std::vector<Tensor> convert_reshape(Conversion& node) {
  const Tensor x = node.operand(0);
  Shape shape = node.known_integers(1, "shape");
  const bool allow_zero = node.attributes().integer("allowzero", 0) != 0;
  int64_t others = 1;
  ptrdiff_t inferred = -1;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && !allow_zero) {
      if (k >= x->rank()) refuse(fmt::format("dimension {} of {}", k, x->type.to_string()));
      shape[k] = x->shape()[k];
    }
    if (shape[k] < -1 || (shape[k] == -1 && inferred >= 0)) {
      refuse(fmt::format("the shape {}", shape_text(shape)));
    }
    if (shape[k] == -1) {
      inferred = static_cast<ptrdiff_t>(k);
    } else if (__builtin_mul_overflow(others, shape[k], &others)) {
      refuse(fmt::format("the shape {} has too many elements", shape_text(shape)));
    }
  }
  if (inferred >= 0) {
    const int64_t elements = x->type.elements();
    if (others == 0 || elements % others != 0) {
      refuse(fmt::format("{} cannot have the shape {}", x->type.to_string(), shape_text(shape)));
    }
    shape[static_cast<size_t>(inferred)] = elements / others;
  }
  return {node.reshape(x, std::move(shape))};
}

std::vector<Tensor> convert_flatten(Conversion& node) {
  const Tensor x = node.operand(0);
  const int64_t axis = node.attributes().integer("axis", 1);
  const size_t at =
      axis == static_cast<int64_t>(x->rank()) ? x->rank() : resolve_axis(axis, x->rank());
  const std::span<const int64_t> shape(x->shape());
  return {node.reshape(x, {product(shape.first(at)), product(shape.subspan(at))})};
}

std::vector<Tensor> convert_squeeze(Conversion& node) {
  const Tensor x = node.operand(0);
  const bool all = node.version() < 13 ? !node.attributes().has("axes") : !node.has(1);
  const Shape axes = all ? Shape() : resolve_axes(axes_of(node), x->rank());
  Shape shape;
  for (size_t k = 0; k < x->rank(); ++k) {
    const bool named = std::ranges::find(axes, static_cast<int64_t>(k)) != axes.end();
    if (named && x->shape()[k] != 1) {
      refuse(fmt::format("axis {} of {} is not of extent 1", k, x->type.to_string()));
    }
    if (!named && !(all && x->shape()[k] == 1)) shape.push_back(x->shape()[k]);
  }
  return {node.reshape(x, std::move(shape))};
}

std::vector<Tensor> convert_unsqueeze(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape list = axes_of(node);
  if (list.size() > kMaxDimensions) refuse(fmt::format("{} axes", list.size()));
  const size_t rank = x->rank() + list.size();
  Shape shape = x->shape();
  for (const int64_t axis : resolve_axes(list, rank)) shape.insert(shape.begin() + axis, 1);
  return {node.reshape(x, std::move(shape))};
}

std::vector<Tensor> convert_transpose(Conversion& node) {
  const Tensor x = node.operand(0);
  Shape reversed = iota(x->rank());
  std::ranges::reverse(reversed);
  const Shape permutation = node.attributes().list("perm", std::move(reversed));
  Shape sorted = permutation;
  std::ranges::sort(sorted);
  if (sorted != iota(x->rank())) {
    refuse(fmt::format("{} does not permute {}", shape_text(permutation), x->type.to_string()));
  }
  if (std::ranges::is_sorted(permutation) || x->type.elements() == 0) {
    return {node.transpose(x, permutation)};
  }
  return {node.result("transpose", {{"perm", permutation}}, {x})};
}

std::vector<Tensor> convert_expand(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape shape = node.known_integers(1, "shape");
  if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; })) {
    refuse(fmt::format("the shape {}", shape_text(shape)));
  }
  return {node.broadcast(x, broadcast_shapes(x->shape(), shape))};
}

std::vector<Tensor> convert_tile(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape repeats = node.known_integers(1, "repeats");
  if (repeats.size() != x->rank() ||
      std::ranges::any_of(repeats, [](int64_t count) { return count < 0; })) {
    refuse(fmt::format("{} repeated {}", x->type.to_string(), shape_text(repeats)));
  }
  if (std::ranges::all_of(repeats, [](int64_t count) { return count == 1; })) return {x};
  Shape shape = x->shape();
  for (size_t k = 0; k < shape.size(); ++k) shape[k] = product(Shape{shape[k], repeats[k]});
  if (product(shape) == 0) return {node.empty({.element = x->element(), .shape = shape})};
  return {node.result("tile", {{"repeats", repeats}}, {x})};
}

std::vector<Tensor> convert_shape(Conversion& node) {
  const Shape& shape = node.operand(0)->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const auto bound = [rank](int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank);
  };
  const int64_t start = bound(node.attributes().integer("start", 0));
  const int64_t end = bound(node.attributes().integer("end", rank));
  if (start >= end) return {node.integers({})};
  return {node.integers({shape.begin() + start, shape.begin() + end})};
}

std::vector<Tensor> convert_size(Conversion& node) {
  const int64_t size[] = {node.operand(0)->type.elements()};
  return {node.constant(graph::Constant::of_integers({}, size))};
}

struct Blocks {
  Tensor x;
  int64_t n, c, h, w, size;
};

Blocks blocks_of(Conversion& node) {
  const Tensor x = node.operand(0);
  const int64_t size = node.attributes().integer("blocksize");
  if (x->rank() != 4 || size < 1) {
    refuse(fmt::format("{} in blocks of {}", x->type.to_string(), size));
  }
  const Shape& shape = x->shape();
  return {.x = x, .n = shape[0], .c = shape[1], .h = shape[2], .w = shape[3], .size = size};
}

// [n, c, h, w] -> [n, c / s / s, h * s, w * s]
std::vector<Tensor> convert_depth_to_space(Conversion& node) {
  const auto [x, n, c, h, w, s] = blocks_of(node);
  const std::string mode = node.attributes().text("mode", "DCR");
  if (c % product(Shape{s, s}) != 0) {
    refuse(fmt::format("{} in blocks of {}", x->type.to_string(), s));
  }
  const int64_t depth = c / (s * s);
  Tensor moved = nullptr;
  if (mode == "DCR") {
    moved = node.transpose(node.reshape(x, {n, s, s, depth, h, w}), {0, 3, 4, 1, 5, 2});
  } else if (mode == "CRD") {
    moved = node.transpose(node.reshape(x, {n, depth, s, s, h, w}), {0, 1, 4, 2, 5, 3});
  } else {
    refuse(fmt::format("mode is '{}'; DCR or CRD are possible", shown(mode)));
  }
  return {node.reshape(moved, {n, depth, product(Shape{h, s}), product(Shape{w, s})})};
}

// [n, c, h, w] -> [n, c * s * s, h / s, w / s]
std::vector<Tensor> convert_space_to_depth(Conversion& node) {
  const auto [x, n, c, h, w, s] = blocks_of(node);
  const std::string mode = node.attributes().text("mode", "DCR");
  if (h % s != 0 || w % s != 0) refuse(fmt::format("{} in blocks of {}", x->type.to_string(), s));
  const bool channels_first = mode == "CRD";
  const Tensor parts = node.reshape(x, {n, c, h / s, s, w / s, s});
  const Tensor moved =
      node.transpose(parts, channels_first ? Shape{0, 1, 3, 5, 2, 4} : Shape{0, 3, 5, 1, 2, 4});
  return {node.reshape(moved, {n, product(Shape{c, s, s}), h / s, w / s})};
}

constexpr ConverterRow kRows[] = {
    {"DepthToSpace", convert_depth_to_space},
    {"Expand", convert_expand},
    {"Flatten", convert_flatten},
    {"Reshape", convert_reshape},
    {"Shape", convert_shape},
    {"Size", convert_size},
    {"SpaceToDepth", convert_space_to_depth},
    {"Squeeze", convert_squeeze},
    {"Tile", convert_tile},
    {"Transpose", convert_transpose},
    {"Unsqueeze", convert_unsqueeze},
};

}  // namespace

std::span<const ConverterRow> shape_converters() { return kRows; }

}  // namespace tilewright::onnx
