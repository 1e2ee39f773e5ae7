// NodeReader: reads the attributes of one node by name and kind. In the body of a function an
// attribute may refer to an attribute of the call. A wrong kind is a Refusal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/constant.h"
#include "onnx/tensor_reader.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace tilewright::onnx {

// The attributes of a call, by their names in the body of the function.
using CallAttributes = std::map<std::string, const ::onnx::AttributeProto*, std::less<>>;

class NodeReader {
 public:
  NodeReader(const ::onnx::NodeProto& node, const CallAttributes& call, TensorReader& tensors)
      : node_(node), call_(call), tensors_(tensors) {}

  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback) const;
  double number(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> list(std::string_view name) const;
  std::vector<int64_t> list(std::string_view name, std::vector<int64_t> fallback) const;
  std::vector<double> numbers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  graph::Constant tensor(std::string_view name) const;
  const ::onnx::GraphProto& graph(std::string_view name) const;
  // Null if the node has none of that name, or it refers to one that the call omits.
  const ::onnx::AttributeProto* find(std::string_view name) const;
  // The name of an attribute that was not read, which may change the meaning of the operator. Empty
  // if there is none.
  std::string unread() const;

 private:
  const ::onnx::NodeProto& node_;
  const CallAttributes& call_;
  TensorReader& tensors_;
  mutable std::set<std::string, std::less<>> read_names_;
};

}  // namespace tilewright::onnx
