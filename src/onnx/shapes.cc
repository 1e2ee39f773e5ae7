#include "onnx/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/saturating.h"
#include "base/utf8.h"
#include "onnx/refusal.h"

namespace tilewright::onnx {

std::string shown(std::string_view name) {
  constexpr size_t kMaxCodePoints = 200;
  return first_code_points(clean_utf8(name), kMaxCodePoints);
}

size_t resolve_axis(int64_t axis, size_t rank) {
  const auto dimensions = static_cast<int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions) {
    refuse(fmt::format("axis {} of {} dimensions", axis, rank));
  }
  return static_cast<size_t>(axis < 0 ? axis + dimensions : axis);
}

Shape resolve_axes(std::span<const int64_t> axes, size_t rank) {
  if (axes.size() > rank) refuse(fmt::format("{} axes of {} dimensions", axes.size(), rank));
  Shape resolved;
  resolved.reserve(axes.size());
  for (const int64_t axis : axes) {
    resolved.push_back(static_cast<int64_t>(resolve_axis(axis, rank)));
  }
  std::ranges::sort(resolved);
  if (std::ranges::adjacent_find(resolved) != resolved.end()) {
    refuse(fmt::format("the axes {} name one twice", shape_text(axes)));
  }
  return resolved;
}

int64_t product(std::span<const int64_t> extents) {
  const int64_t result = saturating_product(extents);
  if (result == std::numeric_limits<int64_t>::max()) {
    refuse(fmt::format("a shape of {} has too many elements", shape_text(extents)));
  }
  return result;
}

Shape broadcast_shapes(std::span<const int64_t> a, std::span<const int64_t> b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (size_t k = 0; k < shape.size(); ++k) {  // from the last
    const int64_t left = k < a.size() ? a[a.size() - 1 - k] : 1;
    const int64_t right = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (left != right && left != 1 && right != 1) {
      refuse(fmt::format("{} and {} do not broadcast", shape_text(a), shape_text(b)));
    }
    shape[shape.size() - 1 - k] = left == 1 ? right : left;
  }
  return shape;
}

Shape ones(size_t rank) { return Shape(rank, 1); }

Shape iota(size_t rank) {
  Shape all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace tilewright::onnx
