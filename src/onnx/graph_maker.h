// GraphMaker: builds a Graph by applying operators to Tensors of the model. Small operations on
// known tensors are computed at once, which removes the shape arithmetic that exporters write:
//
//   shape = [1, 128, 768]; gather(shape, 1) -> 128; reshape(x, [128, -1])
//     ->   reshape(x; [128, 768])
//
// Work and memory have a budget for the whole model, since the file is not trusted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/constant.h"
#include "graph/graph.h"

namespace tilewright::onnx {

struct TensorState;
using Tensor = TensorState*;  // owned by the GraphMaker

// A tensor of the model: known, a value of the Graph, or lost because its node is not supported. A
// tensor without elements is always known and never in the Graph. Also a sequence of tensors, which
// exists only during the import.
struct TensorState {
  graph::TensorType type;
  graph::Constant constant;             // empty: not known
  graph::ValueId value = graph::kNone;  // in the Graph, as soon as a node needs it
  std::string name;
  bool lost = false;
  bool packed = false;  // a constant of four-bit integers in the file
  std::optional<std::vector<Tensor>> sequence = {};

  bool is_known() const { return !constant.empty(); }
  size_t rank() const { return type.shape.size(); }
  const std::vector<int64_t>& shape() const { return type.shape; }
  ir::Scalar element() const { return type.element; }
};
class GraphMaker {
 public:
  explicit GraphMaker(int64_t max_bytes) : max_bytes_(max_bytes) {}

  Tensor input(std::string name, graph::TensorType type);
  Tensor known(graph::Constant constant, std::string name = {});
  // Call it before making a constant that is not in the file: their total size is limited.
  void charge(const graph::TensorType& type);
  Tensor sequence(std::vector<Tensor> tensors);
  Tensor lost() { return &lost_; }

  struct Origin {
    std::string name;  // of the result
    std::string node;  // of the model's node
  };
  // Adds a node to the Graph, or computes a constant if the operands are known and the work is
  // small. Null operands are omitted. Throws a Refusal.
  Tensor apply(std::string_view op, graph::Attributes attributes, std::span<const Tensor> operands,
               const Origin& origin);

  // The tensor as a constant, computed with a larger budget than that of `apply`; nothing if it
  // depends on an input.
  std::optional<graph::Constant> constant_of(Tensor tensor);

  // The names of the inputs that it depends on.
  std::vector<std::string> inputs_behind(Tensor tensor) const;

  graph::Graph finish(std::span<const Tensor> outputs, std::vector<std::string> names) &&;

 private:
  graph::ValueId value_of(Tensor tensor);

  graph::Graph graph_;
  std::deque<TensorState> tensors_;
  TensorState lost_{
      .type = {}, .constant = {}, .value = graph::kNone, .name = {}, .lost = true, .packed = false};
  int64_t max_bytes_;
  int64_t made_bytes_left_ = int64_t{1} << 30;
  double work_left_ = 3e7;  // loop iterations
};

}  // namespace tilewright::onnx
