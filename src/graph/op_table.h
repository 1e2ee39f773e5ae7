// The operators of a Graph. Attributes and operand types determine the te::Dag of a node:
// placeholders in the order of the operands (omitted ones have none), outputs in the order of the
// results. Shapes of results follow from the Dag. graph/ops/ has one file per family; docs/graph.md
// lists them. Operators that te/ops defines, too (softmax, norms, products, convolutions, pooling,
// ...), are built from its stages.
//
// There are fewer operators than in ONNX: importers write HardSwish as `hard_swish`, Gemm as
// `contract`, `mul` and `add`. The files of graph/ops name the attributes.
//
//   kinds of work, which decide fusion:
//     View      the same bytes with another shape: reshape. Free between kernels.
//     Map       elementwise with broadcasting
//     Move      each element of the result is one element of an operand, or a fill value:
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

// An omitted operand has no type.
using OperandTypes = std::span<const std::optional<TensorType>>;

struct OpDef {
  std::string_view name;
  Work work = Work::Map;
  // The last operands may be omitted, down to `min_operands`.
  size_t min_operands = 1, max_operands = 1;
  Result<std::shared_ptr<const te::Dag>> (*build)(const OpDef& op, const Attributes& attributes,
                                                  OperandTypes operands) = nullptr;
  bool winograd = false;  // Winograd's algorithm: its kernels have the permission `winograd`

  // Builds the Dag. Attributes and shapes come from files: fails if they do not fit together, and
  // on a tensor that is empty or too large. Messages begin with the operator's name. An attribute
  // of the wrong kind is a CHECK.
  Result<std::shared_ptr<const te::Dag>> define(const Attributes& attributes,
                                                OperandTypes operands) const;
};

inline constexpr size_t kMaxRank = te::kMaxTensorRank;  // of any value
inline constexpr size_t kMaxOperands = 1024;            // of one node
inline constexpr size_t kAnyNumber = kMaxOperands;      // as OpDef::most

const OpDef* find_op(std::string_view name);  // null if there is none
std::span<const OpDef> all_ops();             // ordered by name

TensorType tensor_type(const te::Tensor& tensor);  // a symbolic extent counts as its largest value

// The types of the outputs of a Dag from `define`.
Result<std::vector<TensorType>> result_types(const te::Dag& dag);

}  // namespace tilewright::graph
