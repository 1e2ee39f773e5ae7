// Importer: converts the nodes of a parsed model, in order, to nodes of a Graph. Functions of the
// model, and branches of If with a known condition, are inlined. Nodes that no output needs are
// skipped.
//
// An unsupported node does not stop the import: its results are marked lost, and their readers are
// only checked for support, so one error names all unsupported nodes.
#pragma once

#include <onnx_subset.pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "onnx/conversion.h"
#include "onnx/import.h"

namespace tilewright::onnx {

class Importer {
 public:
  Importer(std::shared_ptr<const ::onnx::ModelProto> model,
           std::vector<std::filesystem::path> folders, const ImportOptions& options);
  Result<graph::Graph> run();

 private:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
  using OpsetVersions = std::map<std::string, int64_t, std::less<>>;

  // The tensors of a graph by name, and the enclosing graph. Initializers are read on first use.
  struct Scope {
    Scope* parent = nullptr;
    std::unordered_map<std::string, Tensor> tensors;
    std::unordered_map<std::string, const ::onnx::TensorProto*> initializers;
  };
  // The context of all nodes of the model, or of one function.
  struct Frame {
    OpsetVersions versions;
    CallAttributes attributes;
    std::string prefix;  // of the names of nodes
    int depth = 0;       // of calls and branches
  };

  graph::Graph import_model();
  void read_functions();
  void read_inputs(Scope& scope);
  void read_initializers(const ::onnx::GraphProto& graph, Scope& scope);
  // Converts the nodes that `outputs` need; returns the outputs.
  std::vector<Tensor> convert_nodes(const Nodes& nodes, const std::vector<std::string>& outputs,
                                    const Frame& frame, Scope& scope);
  void convert_node(const ::onnx::NodeProto& node, const Frame& frame, Scope& scope);
  std::vector<Tensor> results_of(const ::onnx::NodeProto& node, const std::string& name,
                                 const Frame& frame, Scope& scope);
  std::vector<Tensor> call(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& node,
                           const std::vector<Tensor>& operands, const std::string& name,
                           const Frame& frame);
  std::vector<Tensor> branch(const NodeReader& attributes, Tensor condition, const Frame& frame,
                             Scope& scope);
  const ::onnx::FunctionProto* function_of(const ::onnx::NodeProto& node) const;
  int64_t version_of(const ::onnx::NodeProto& node, const Frame& frame) const;
  Tensor find(Scope& scope, const std::string& name);  // throws a Refusal if there is none
  static void define(Scope& scope, const std::string& name, Tensor tensor);

  std::shared_ptr<const ::onnx::ModelProto> model_;
  const ImportOptions& options_;
  TensorReader tensors_;
  GraphMaker maker_;
  std::map<std::tuple<std::string, std::string, std::string>, const ::onnx::FunctionProto*>
      functions_;  // by domain, name, overload
  std::vector<std::string> unsupported_;
  size_t nodes_left_;
};

}  // namespace tilewright::onnx
