// The operators of a Graph. Each gives, for its attributes and the types of its operands, the
// te::Dag that computes it: placeholders in the order of the operands (those left out have none),
// outputs in the order of the results. Shapes of results follow from the Dag. graph/ops/ has a file
// a family; docs/graph.md lists them.
//
// The vocabulary is our own and smaller than ONNX's: importers say HardSwish by `hard_swish`, Gemm
// by `contract`, `mul` and `add`. Names of attributes as in the files of graph/ops.
//
//   kinds of work, which fusion goes by:
//     View      the same bytes under another shape: reshape. Costs nothing between kernels.
//     Map       elementwise with broadcast: each element of the result from elements at the same
//               place of its operands
//     Move      elements at other places, each result from one operand element or a fill value:
//               transpose, slice, pad, concat, broadcast, gather, resize nearest
//     Rows      light reductions, several stages: softmax, layer_norm, reduce, pool, argmax
//     Heavy     contractions: contract, conv, conv_transpose, conv_winograd, attention
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "graph/attributes.h"
#include "graph/constant.h"
#include "te/dag.h"

namespace tilewright::graph {

enum class Work : uint8_t { View, Map, Move, Rows, Heavy };

// An operand that is left out has no type.
using OperandTypes = std::span<const std::optional<TensorType>>;

struct OpDef {
  std::string_view name;
  Work work = Work::Map;
  size_t least = 1, most = 1;  // operands; those at the end may be left out down to `least`
  Result<std::shared_ptr<const te::Dag>> (*build)(const OpDef& op, const Attributes& attributes,
                                                  OperandTypes operands) = nullptr;
  bool winograd = false;  // Winograd's algorithm: its kernels have the permission of that name

  // The Dag. Attributes and shapes come from files: whatever does not fit together, an empty
  // tensor, or one of absurd size is an error that begins with the operator's name. Attributes of
  // the wrong kind are a CHECK.
  Result<std::shared_ptr<const te::Dag>> define(const Attributes& attributes,
                                                OperandTypes operands) const;
};

inline constexpr size_t kMaxRank = 8;               // of any value
inline constexpr size_t kMaxOperands = 1024;        // of one node
inline constexpr size_t kAnyNumber = kMaxOperands;  // as OpDef::most

const OpDef* find_op(std::string_view name);  // null: no such operator
std::span<const OpDef> all_ops();             // ordered by name

TensorType tensor_type(const te::Tensor& tensor);  // a symbolic extent counts as its largest value

// The types of the outputs of a Dag that `define` made.
Result<std::vector<TensorType>> result_types(const te::Dag& dag);

}  // namespace tilewright::graph
