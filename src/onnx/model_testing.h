// For tests: builds ONNX models in a few lines.
//
//   ModelWriter model;
//   model.input("x", {1, 3});
//   model.node("Relu", {"x"}, {"y"});
//   model.output("y");
//   const auto graph = model.import();
#pragma once

#include <onnx_subset.pb.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "onnx/import.h"

namespace tilewright::onnx {

class ModelWriter {
 public:
  using Names = std::initializer_list<std::string>;

  explicit ModelWriter(int64_t version = 17) { import_set("", version); }

  void import_set(const std::string& domain, int64_t version) {
    auto* set = proto_.add_opset_import();
    set->set_domain(domain);
    set->set_version(version);
  }

  // An extent of 0 or less is symbolic.
  void input(const std::string& name, const std::vector<int64_t>& shape,
             int type = ::onnx::TensorProto::FLOAT) {
    auto* tensor = declare(proto_.mutable_graph()->add_input(), name, type);
    tensor->mutable_shape();
    for (const int64_t extent : shape) {
      auto* dimension = tensor->mutable_shape()->add_dim();
      if (extent > 0) {
        dimension->set_dim_value(extent);
      } else {
        dimension->set_dim_param("n");
      }
    }
  }

  void output(const std::string& name) {
    declare(proto_.mutable_graph()->add_output(), name, ::onnx::TensorProto::FLOAT);
  }

  ::onnx::NodeProto& node(const std::string& op, Names inputs, Names outputs) {
    return write_node(*proto_.mutable_graph()->add_node(), op, inputs, outputs);
  }

  static ::onnx::NodeProto& write_node(::onnx::NodeProto& node, const std::string& op, Names inputs,
                                       Names outputs) {
    node.set_op_type(op);
    for (const std::string& name : inputs) node.add_input(name);
    for (const std::string& name : outputs) node.add_output(name);
    return node;
  }

  ::onnx::TensorProto& floats(const std::string& name, const std::vector<int64_t>& shape,
                              const std::vector<float>& values) {
    auto& tensor = *proto_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Add(shape.begin(), shape.end());
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return tensor;
  }

  ::onnx::TensorProto& integers(const std::string& name, const std::vector<int64_t>& values) {
    auto& tensor = *proto_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    tensor.mutable_int64_data()->Add(values.begin(), values.end());
    return tensor;
  }

  ::onnx::ModelProto& proto() { return proto_; }
  std::string bytes() const { return proto_.SerializeAsString(); }
  Result<graph::Graph> import(const ImportOptions& options = {}) const {
    const std::string text = bytes();
    return import_bytes(std::as_bytes(std::span(text)), {}, options);
  }

 private:
  static ::onnx::TypeProto::Tensor* declare(::onnx::ValueInfoProto* value, const std::string& name,
                                            int type) {
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    return tensor;
  }

  ::onnx::ModelProto proto_;
};

inline void set_attribute(::onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(value);
}

inline void set_attribute(::onnx::NodeProto& node, const std::string& name,
                          const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INTS);
  attribute->mutable_ints()->Add(values.begin(), values.end());
}

inline void set_attribute(::onnx::NodeProto& node, const std::string& name,
                          const std::string& value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

}  // namespace tilewright::onnx
