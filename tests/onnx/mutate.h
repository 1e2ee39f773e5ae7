// Models with something changed that their makers would not have changed: what a reader survives.
#pragma once

#include <string>
#include <vector>

#include "tests/onnx/node_cases.h"

namespace tilewright::onnx {

// Imports `count` mutations of each model: bytes replaced; operators, names, attributes, shapes and
// small constants exchanged for others and for absurd ones. Gives what an import said that ended
// neither in a Graph nor in an error with a message, by the name of the test.
std::vector<std::string> import_mutations(const NodeCases& cases, size_t count);

}  // namespace tilewright::onnx
