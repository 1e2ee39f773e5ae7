// NodeReader: the attributes of one node, read by name and kind. Inside the body of a function an
// attribute may refer to one of the call; it is looked up there. What is of another kind than asked
// for is a Refusal.
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

// The attributes that a call gives to the body of a function, by their names there.
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
  graph::Constant tensor(std::string_view name) const;
  const ::onnx::GraphProto& graph(std::string_view name) const;
  // Null where the node has none of that name, or it refers to one that the call leaves out.
  const ::onnx::AttributeProto* find(std::string_view name) const;
  // An attribute that nobody has asked for: it may change what the operator means. Empty: none.
  std::string unread() const;

 private:
  const ::onnx::NodeProto& node_;
  const CallAttributes& call_;
  TensorReader& tensors_;
  mutable std::set<std::string, std::less<>> asked_;
};

}  // namespace tilewright::onnx
