// TopK by counting: the rank of an element is the number of elements before it. n * n comparisons,
// which is fine for the short rows of models.
//
//   x = [3, 9, 7]   before[i, j] = x[j] > x[i], or equal and j < i   rank = [2, 0, 1]
//   index[k] = sum of i where rank[i] = k  ->  [1, 2, 0]
#include <fmt/format.h>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

constexpr int64_t kMaxCompared = 4096;  // elements of a row

Shape inserted(Shape shape, size_t at, int64_t extent) {
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(at), extent);
  return shape;
}

// The number of elements of its row that come before each element; rows are the last dimension.
Tensor places_of(Conversion& node, Tensor x, bool largest) {
  const size_t last = x->rank() - 1;
  const int64_t extent = x->shape()[last];
  const Tensor mine = node.reshape(x, inserted(x->shape(), last + 1, 1));
  const Tensor others = node.reshape(x, inserted(x->shape(), last, 1));
  const Tensor numbers = node.integers(iota(static_cast<size_t>(extent)));
  const Tensor earlier =
      node.emit("less", {node.reshape(numbers, {1, extent}), node.reshape(numbers, {extent, 1})});
  const Tensor beats = node.emit(largest ? "greater" : "less", {others, mine});
  const Tensor ties = node.emit("and", {node.emit("equal", {others, mine}), earlier});
  const Tensor before = node.cast(node.emit("or", {beats, ties}), Scalar::I64);
  return node.reduce(before, "sum", {static_cast<int64_t>(last) + 1}, false);
}

std::vector<Tensor> convert_top_k(Conversion& node) {
  const Tensor x = node.operand(0);
  const int64_t count =
      node.version() < 10 ? node.attributes().integer("k") : node.known_integer(1, "k");
  const size_t axis = resolve_axis(node.attributes().integer("axis", -1), x->rank());
  const int64_t extent = x->shape()[axis];
  if (count < 1 || count > extent) refuse(fmt::format("{} of {} elements", count, extent));
  if (extent > kMaxCompared) {
    not_supported(fmt::format("of {} elements; up to {} are supported", extent, kMaxCompared));
  }
  Shape last = iota(x->rank());  // exchanges the axis with the last
  std::swap(last[axis], last.back());
  const Tensor rows = node.transpose(x, last);
  const Tensor places = places_of(node, rows, node.attributes().integer("largest", 1) != 0);
  const size_t end = x->rank() - 1;
  const Tensor wanted = node.reshape(node.integers(iota(static_cast<size_t>(count))), {count, 1});
  const Tensor found =
      node.emit("equal", {node.reshape(places, inserted(rows->shape(), end, 1)), wanted});
  const Tensor numbers = node.integers(iota(static_cast<size_t>(extent)));
  const Tensor nothing = node.integers({0});
  const Tensor indices = node.reduce(node.emit("where", {found, numbers, nothing}), "sum",
                                     {static_cast<int64_t>(end) + 1}, false);
  const Tensor values =
      node.emit("gather_elements", {{"axis", static_cast<int64_t>(end)}}, {rows, indices});
  return {node.transpose(values, last), node.transpose(indices, last)};
}

constexpr ConverterRow kRows[] = {
    {"TopK", convert_top_k},
};

}  // namespace

std::span<const ConverterRow> top_k_converters() { return kRows; }

}  // namespace tilewright::onnx
