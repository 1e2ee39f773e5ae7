// ONNX files to Graphs: opsets 7 to 28, the shapes of all values known. Symbolic dimensions are
// given by the caller. The file is not trusted: whatever it holds gives a Graph or an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace tilewright::onnx {

struct ImportOptions {
  // Input name -> shape: for inputs with symbolic dimensions; must agree with those that are known.
  // A symbol that has got its extent so has it in other inputs too.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  // Inputs whose values are known: they become constants, and are no inputs of the Graph.
  std::map<std::string, graph::Constant> input_values = {};
  int64_t most_bytes = int64_t{1} << 36;  // of all constants together
};

// `x:[1,3,224,224]`, several separated by ';' or ' '.
Result<std::map<std::string, std::vector<int64_t>>> parse_input_shapes(std::string_view text);

// External data is looked for beside the file. Inputs without elements are no inputs of the Graph.
// One error lists every node whose operator is not supported, by name and operator (kind
// Unsupported).
Result<graph::Graph> import_file(const std::filesystem::path& path, const ImportOptions& options);
Result<graph::Graph> import_bytes(std::span<const std::byte> bytes,
                                  const std::filesystem::path& folder,
                                  const ImportOptions& options);

}  // namespace tilewright::onnx
