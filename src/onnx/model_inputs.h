// The types of a model's inputs: from the file, with the caller's shapes for symbolic dimensions.
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

// The inputs that are not initializers, in order. Throws a Refusal that names every input whose
// shape is missing.
std::vector<ModelInput> model_inputs(const ::onnx::GraphProto& graph, const ImportOptions& options);

}  // namespace tilewright::onnx
