// Slice, Split, Concat, Pad and similar operators.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

struct Interval {
  int64_t begin = 0;
  int64_t size = 0;
};

// The meaning of start:end:step in a dimension, as in NumPy.
Interval interval_of(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const auto wide = [extent](int64_t at) {
    return static_cast<__int128>(at) + (at < 0 ? extent : 0);
  };
  const __int128 low = step > 0 ? 0 : -1;
  const __int128 high = step > 0 ? extent : extent - 1;
  const __int128 first = std::clamp(wide(start), step > 0 ? low : __int128{0}, high);
  const __int128 last = std::clamp(wide(end), low, high);
  const __int128 distance = step > 0 ? last - first : first - last;
  const __int128 stride = step > 0 ? __int128{step} : -__int128{step};
  const __int128 size = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  return {.begin = static_cast<int64_t>(std::max<__int128>(first, 0)),
          .size = static_cast<int64_t>(size)};
}

struct SliceLists {
  Shape starts, ends, axes, steps;
};

SliceLists slice_lists(Conversion& node) {
  SliceLists lists;
  if (node.version() < 10) {
    lists.starts = node.attributes().list("starts");
    lists.ends = node.attributes().list("ends");
    lists.axes = node.attributes().list("axes", iota(lists.starts.size()));
  } else {
    lists.starts = node.known_integers(1, "starts");
    lists.ends = node.known_integers(2, "ends");
    lists.axes = node.has(3) ? node.known_integers(3, "axes") : iota(lists.starts.size());
    if (node.has(4)) lists.steps = node.known_integers(4, "steps");
  }
  if (lists.steps.empty()) lists.steps = ones(lists.starts.size());
  const size_t count = lists.starts.size();
  if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count) {
    refuse("its starts, ends, axes and steps differ in number");
  }
  return lists;
}

std::vector<Tensor> convert_slice(Conversion& node) {
  const Tensor x = node.operand(0);
  const SliceLists lists = slice_lists(node);
  resolve_axes(lists.axes, x->rank());  // none twice
  Shape begin(x->rank(), 0);
  Shape size = x->shape();
  Shape step = ones(x->rank());
  for (size_t k = 0; k < lists.axes.size(); ++k) {
    if (lists.steps[k] == 0) refuse("a step of 0");
    const size_t axis = resolve_axis(lists.axes[k], x->rank());
    const Interval part =
        interval_of(lists.starts[k], lists.ends[k], lists.steps[k], x->shape()[axis]);
    begin[axis] = part.begin;
    size[axis] = part.size;
    // The step does not matter for a single element.
    step[axis] = part.size <= 1 ? 1 : lists.steps[k];
  }
  const bool whole = size == x->shape() && step == ones(x->rank());
  if (whole || product(size) == 0) return {node.slice(x, begin, size, step)};
  return {node.result("slice", {{"begin", begin}, {"size", size}, {"step", step}}, {x})};
}

// The number of elements of each part.
Shape split_sizes(Conversion& node, int64_t extent) {
  const bool as_operand = node.version() >= 13;
  if (as_operand && node.has(1)) return node.known_integers(1, "split");
  if (!as_operand && node.attributes().has("split")) return node.attributes().list("split");
  const auto parts =
      node.attributes().integer("num_outputs", static_cast<int64_t>(node.result_count()));
  if (parts < 1 || parts > extent || parts > static_cast<int64_t>(node.result_count())) {
    refuse(fmt::format("{} elements in {} parts", extent, parts));
  }
  const int64_t max_size = (extent + parts - 1) / parts;
  if (node.version() < 18 && extent % parts != 0) {
    refuse(fmt::format("{} elements in {} parts", extent, parts));
  }
  Shape sizes;
  for (int64_t left = extent; left > 0; left -= max_size) sizes.push_back(std::min(left, max_size));
  return sizes;
}

std::vector<Tensor> convert_split(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.attributes().integer("axis", 0), x->rank());
  const Shape sizes = split_sizes(node, x->shape()[axis]);
  int64_t sum = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum)) sum = -1;
    if (sum < 0) break;
  }
  if (sum != x->shape()[axis] || sizes.size() != node.result_count()) {
    refuse(
        fmt::format("{} in parts {} along axis {}", x->type.to_string(), shape_text(sizes), axis));
  }
  std::vector<Tensor> parts;
  Shape begin(x->rank(), 0);
  for (const int64_t part : sizes) {
    Shape size = x->shape();
    size[axis] = part;
    parts.push_back(node.slice(x, begin, size, ones(x->rank())));
    begin[axis] += part;
  }
  return parts;
}

std::vector<Tensor> convert_concat(Conversion& node) {
  const Tensor first = node.operand(0);
  for (size_t k = 0; k < node.operand_count(); ++k) {
    const Tensor part = node.operand(k);
    if (part->rank() != first->rank() || part->element() != first->element()) {
      refuse(fmt::format("{} and {} cannot be joined", first->type.to_string(),
                         part->type.to_string()));
    }
  }
  const size_t axis = resolve_axis(node.attributes().integer("axis"), first->rank());
  return {node.concat(node.operands(), static_cast<int64_t>(axis))};
}

struct Border {
  Shape before, after;
};

// `pads` has the begins of all axes, then the ends.
Border border_of(const Shape& pads, const Shape& axes, size_t rank) {
  if (pads.size() != 2 * axes.size()) {
    refuse(fmt::format("{} pads for {} axes", pads.size(), axes.size()));
  }
  resolve_axes(axes, rank);
  Border border{.before = Shape(rank, 0), .after = Shape(rank, 0)};
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t axis = resolve_axis(axes[k], rank);
    border.before[axis] = pads[k];
    border.after[axis] = pads[axes.size() + k];
  }
  return border;
}

std::vector<Tensor> convert_pad(Conversion& node) {
  const Tensor x = node.operand(0);
  const std::string mode = node.attributes().text("mode", "constant");
  Border border;
  Tensor value = nullptr;
  if (node.version() < 11) {
    border = border_of(node.attributes().list("pads"), iota(x->rank()), x->rank());
    value = node.number(node.attributes().number("value", 0), x->element());
  } else {
    const Shape axes = node.has(3) ? node.known_integers(3, "axes") : iota(x->rank());
    border = border_of(node.known_integers(1, "pads"), axes, x->rank());
    value = node.optional_operand(2);
  }
  const auto is_zero = [](int64_t width) { return width == 0; };
  if (std::ranges::all_of(border.before, is_zero) && std::ranges::all_of(border.after, is_zero)) {
    return {x};
  }
  if (mode != "constant") value = nullptr;
  if (value != nullptr && value->is_known() && value->type.elements() == 1 &&
      value->constant.number(0) == 0) {
    value = nullptr;  // 0, the default
  }
  std::vector<Tensor> operands{x};
  if (value != nullptr) operands.push_back(value);
  return {node.result("pad", {{"before", border.before}, {"after", border.after}, {"mode", mode}},
                      operands)};
}

std::vector<Tensor> convert_center_crop_pad(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape wanted = node.known_integers(1, "shape");
  const Shape axes = node.attributes().list("axes", iota(x->rank()));
  if (wanted.size() != axes.size()) refuse("its shape and axes differ in number");
  resolve_axes(axes, x->rank());
  Border border{.before = Shape(x->rank(), 0), .after = Shape(x->rank(), 0)};
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t axis = resolve_axis(axes[k], x->rank());
    if (wanted[k] < 1) refuse(fmt::format("the shape {}", shape_text(wanted)));
    const int64_t more = wanted[k] - x->shape()[axis];
    border.before[axis] = more / 2;  // toward 0, also where it is cut
    border.after[axis] = more - more / 2;
  }
  return {node.result("pad", {{"before", border.before}, {"after", border.after}}, {x})};
}

// The indices along an axis where a known condition holds.
std::vector<Tensor> convert_compress(Conversion& node) {
  const bool flat = !node.attributes().has("axis");
  const Tensor given = node.operand(0);
  const Tensor x = flat ? node.reshape(given, {given->type.elements()}) : given;
  const size_t axis = flat ? 0 : resolve_axis(node.attributes().integer("axis"), x->rank());
  const graph::Constant condition = node.known(1, "condition");
  if (condition.type().element != Scalar::Bool || condition.type().shape.size() != 1 ||
      condition.type().elements() > x->shape()[axis]) {
    refuse(fmt::format("the condition is {}", condition.type().to_string()));
  }
  Shape places;
  for (int64_t k = 0; k < condition.type().elements(); ++k) {
    if (condition.integer(k) != 0) places.push_back(k);
  }
  if (places.empty()) {
    Shape shape = x->shape();
    shape[axis] = 0;
    return {node.empty({.element = x->element(), .shape = std::move(shape)})};
  }
  return {
      node.result("gather", {{"axis", static_cast<int64_t>(axis)}}, {x, node.integers(places)})};
}

constexpr ConverterRow kRows[] = {
    {"CenterCropPad", convert_center_crop_pad},
    {"Compress", convert_compress},
    {"Concat", convert_concat},
    {"Pad", convert_pad},
    {"Slice", convert_slice},
    {"Split", convert_split},
};

}  // namespace

std::span<const ConverterRow> slice_converters() { return kRows; }

}  // namespace tilewright::onnx
