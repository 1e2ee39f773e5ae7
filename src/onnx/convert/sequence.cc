// Sequences of tensors, which exporters write for lists. Their length is known, so they are
// resolved during the import.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/converter_table.h"

namespace tilewright::onnx {
namespace {

std::vector<Tensor> convert_construct(Conversion& node) {
  std::vector<Tensor> tensors;
  tensors.reserve(node.operand_count());
  for (size_t k = 0; k < node.operand_count(); ++k) tensors.push_back(node.operand(k));
  return {node.sequence(std::move(tensors))};
}

std::vector<Tensor> convert_empty(Conversion& node) {
  node.attributes().integer("dtype", 1);  // its elements have the type too
  return {node.sequence({})};
}

std::vector<Tensor> convert_length(Conversion& node) {
  const int64_t length[] = {static_cast<int64_t>(node.operand_sequence(0).size())};
  return {node.constant(graph::Constant::of_integers({}, length))};
}

std::vector<Tensor> convert_at(Conversion& node) {
  const std::vector<Tensor>& tensors = node.operand_sequence(0);
  return {tensors[resolve_axis(node.known_integer(1, "position"), tensors.size())]};
}

std::vector<Tensor> convert_insert(Conversion& node) {
  std::vector<Tensor> tensors = node.operand_sequence(0);
  const auto size = static_cast<int64_t>(tensors.size());
  int64_t place = node.has(2) ? node.known_integer(2, "position") : size;
  if (place < -size || place > size) refuse(fmt::format("place {} of {}", place, size));
  if (place < 0) place += size;
  tensors.insert(tensors.begin() + place, node.operand(1));
  return {node.sequence(std::move(tensors))};
}

std::vector<Tensor> convert_erase(Conversion& node) {
  std::vector<Tensor> tensors = node.operand_sequence(0);
  const int64_t given = node.has(1) ? node.known_integer(1, "position") : -1;
  tensors.erase(tensors.begin() + static_cast<ptrdiff_t>(resolve_axis(given, tensors.size())));
  return {node.sequence(std::move(tensors))};
}

// Concatenated along an existing axis, or stacked along a new one.
std::vector<Tensor> convert_concat(Conversion& node) {
  std::vector<Tensor> tensors = node.operand_sequence(0);
  if (tensors.empty()) refuse("the sequence is empty");
  const bool is_new = node.attributes().integer("new_axis", 0) != 0;
  const size_t rank = tensors[0]->rank() + (is_new ? 1 : 0);
  const size_t axis = resolve_axis(node.attributes().integer("axis"), rank);
  for (Tensor& tensor : tensors) {
    if (tensor->rank() + (is_new ? 1 : 0) != rank) refuse("its tensors differ in rank");
    if (!is_new) continue;
    Shape shape = tensor->shape();
    shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
    tensor = node.reshape(tensor, std::move(shape));
  }
  return {node.concat(tensors, static_cast<int64_t>(axis))};
}

std::vector<Tensor> convert_split(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.attributes().integer("axis", 0), x->rank());
  const int64_t extent = x->shape()[axis];
  const bool single = !node.has(1);
  const bool keep = node.attributes().integer("keepdims", 1) != 0;
  const bool uniform = single || node.operand(1)->rank() == 0;
  constexpr int64_t kMaxParts = 4096;
  Shape sizes;
  if (uniform) {
    const int64_t size = single ? 1 : node.known_integer(1, "split");
    if (size < 1 || extent / size > kMaxParts) {
      refuse(fmt::format("parts of {} of {}", size, extent));
    }
    for (int64_t left = extent; left > 0; left -= size) sizes.push_back(std::min(left, size));
  } else {
    sizes = node.known_integers(1, "split");
  }
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - begin) refuse(fmt::format("parts {}", shape_text(sizes)));
    Shape first(x->rank(), 0);
    Shape shape = x->shape();
    first[axis] = begin;
    shape[axis] = size;
    Tensor part = node.slice(x, first, shape, ones(x->rank()));
    if (single && !keep) {
      shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
      part = node.reshape(part, shape);
    }
    parts.push_back(part);
    begin += size;
  }
  if (begin != extent) refuse(fmt::format("parts {} of {}", shape_text(sizes), extent));
  return {node.sequence(std::move(parts))};
}

constexpr ConverterRow kRows[] = {
    {"ConcatFromSequence", convert_concat},   {"SequenceAt", convert_at},
    {"SequenceConstruct", convert_construct}, {"SequenceEmpty", convert_empty},
    {"SequenceErase", convert_erase},         {"SequenceInsert", convert_insert},
    {"SequenceLength", convert_length},       {"SplitToSequence", convert_split},
};

}  // namespace

std::span<const ConverterRow> sequence_converters() { return kRows; }

}  // namespace tilewright::onnx
