// Conversion: one node of the model, which its converter translates to nodes of the Graph. A
// converter is a small function of the table (converter_table.h):
//
//   std::vector<Tensor> convert_celu(Conversion& node) {
//     return {node.result("celu", {{"alpha", node.attributes().number("alpha", 1)}},
//                         {node.operand(0)})};
//   }
//
// All members throw a Refusal (refusal.h) if the model is malformed or not supported.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph_maker.h"
#include "onnx/node_reader.h"
#include "onnx/refusal.h"
#include "onnx/shapes.h"

namespace tilewright::onnx {

class Conversion {
 public:
  // `version` is the version of the operator set of the node's domain; `outputs` are the names of
  // the node's results, empty for an omitted one.
  Conversion(GraphMaker& maker, const NodeReader& attributes, std::vector<Tensor> operands,
             std::vector<std::string> outputs, std::string name, int64_t version);

  int64_t version() const { return version_; }
  const NodeReader& attributes() const { return attributes_; }

  size_t operand_count() const { return operands_.size(); }
  bool has(size_t k) const { return k < operands_.size() && operands_[k] != nullptr; }
  Tensor operand(size_t k) const;           // required
  Tensor optional_operand(size_t k) const;  // null if omitted
  const std::vector<Tensor>& operands() const { return operands_; }
  const std::vector<Tensor>& operand_sequence(size_t k) const;
  size_t result_count() const { return outputs_.size(); }
  bool wants(size_t result) const { return result < outputs_.size() && !outputs_[result].empty(); }

  // Operands that must be known at compile time.
  graph::Constant known(size_t k, std::string_view what) const;
  Shape known_integers(size_t k, std::string_view what) const;  // a list or a scalar
  int64_t known_integer(size_t k, std::string_view what) const;
  double known_number(size_t k, std::string_view what) const;

  // Add nodes to the Graph; `result` names the value as the model does.
  Tensor emit(std::string_view op, graph::Attributes attributes, std::vector<Tensor> operands);
  Tensor emit(std::string_view op, std::vector<Tensor> operands) {
    return emit(op, {}, std::move(operands));
  }
  Tensor result(std::string_view op, graph::Attributes attributes, std::vector<Tensor> operands,
                size_t k = 0);
  Tensor result(std::string_view op, std::vector<Tensor> operands) {
    return result(op, {}, std::move(operands));
  }

  // Known tensors. Announce a large one before making it (GraphMaker::announce).
  void charge(const graph::TensorType& type) { maker_.charge(type); }
  Tensor constant(graph::Constant value);
  Tensor number(double value, ir::Scalar element);  // a scalar
  Tensor integers(const Shape& values);             // a list of i64
  Tensor empty(graph::TensorType type);             // without elements
  Tensor sequence(std::vector<Tensor> tensors);

  // Common operators. An operator without effect returns the tensor itself.
  Tensor reshape(Tensor x, Shape shape);
  Tensor transpose(Tensor x, Shape permutation);
  Tensor broadcast(Tensor x, Shape shape);
  Tensor cast(Tensor x, ir::Scalar to);
  Tensor slice(Tensor x, Shape begin, Shape size, Shape step);
  Tensor concat(const std::vector<Tensor>& parts, int64_t axis);
  Tensor reduce(Tensor x, std::string_view kind, Shape axes, bool keep = true);
  // ((a op b) op c) ...
  Tensor fold(std::string_view op, std::span<const Tensor> operands);

 private:
  GraphMaker& maker_;
  const NodeReader& attributes_;
  std::vector<Tensor> operands_;
  std::vector<std::string> outputs_;
  std::string name_;
  int64_t version_;
};

using Converter = std::vector<Tensor> (*)(Conversion& node);

}  // namespace tilewright::onnx
