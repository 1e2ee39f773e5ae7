// The types of a model's inputs: what the file says, and the shapes that the caller gives for
// symbolic dimensions.
#pragma once

#include <string>
#include <vector>

#include "graph/constant.h"
#include "onnx/import.h"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace tilewright::onnx {

struct ModelInput {
  std::string name;
  graph::TensorType type;
};

// Inputs that are no initializers, in order. Throws a Refusal: one that names every input whose
// shape has to be given.
std::vector<ModelInput> model_inputs(const ::onnx::GraphProto& graph, const ImportOptions& options);

}  // namespace tilewright::onnx
