// Converters of operators that the Graph has with the same meaning, under another name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "onnx/converter_table.h"

namespace tilewright::onnx {

template <size_t size>
struct OpName {
  char text[size] = {};
  consteval OpName(const char (&literal)[size]) {  // NOLINT: a literal is a name
    std::copy_n(literal, size, text);
  }
  constexpr std::string_view view() const { return {text, size - 1}; }
};

// The operands unchanged, without attributes.
template <OpName op>
std::vector<Tensor> direct(Conversion& node) {
  return {node.result(op.view(), {}, node.operands())};
}

// One numeric attribute, with the same name in both.
template <OpName op, OpName attribute, float fallback>
std::vector<Tensor> with_number(Conversion& node) {
  return {node.result(
      op.view(),
      {{std::string(attribute.view()), node.attributes().number(attribute.view(), fallback)}},
      {node.operand(0)})};
}

}  // namespace tilewright::onnx
