// Mutated models, which test that the importer accepts or rejects any file.
#pragma once

#include <string>
#include <vector>

#include "tests/onnx/node_cases.h"

namespace tilewright::onnx {

// Imports `count` mutations of each model: bytes replaced; operators, names, attributes, shapes and
// small constants replaced by others and by invalid ones. Returns the imports that gave neither a
// Graph nor an error with a message, by the name of the test.
std::vector<std::string> import_mutations(const NodeCases& cases, size_t count);

}  // namespace tilewright::onnx
