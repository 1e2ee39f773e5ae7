// Imports ONNX files as Graphs: operator sets 7 to 28, static shapes. The caller gives the extents
// of symbolic dimensions. The file is not trusted: any content gives a Graph or an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "graph/graph.h"

namespace tilewright::onnx {

struct ImportOptions {
  // Input name -> shape, for inputs with symbolic dimensions; must agree with the known extents. A
  // symbol bound this way has the same extent in other inputs.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  // Inputs with known values: they become constants instead of inputs of the Graph.
  std::map<std::string, graph::Constant> input_values = {};
  int64_t max_bytes = int64_t{1} << 36;  // total size of constants
  StopToken stop = {};                   // checked before each node; a requested stop is an error
};

// `x:[1,3,224,224]`, several separated by ';' or ' '.
Result<std::map<std::string, std::vector<int64_t>>> parse_input_shapes(std::string_view text);

// External data is read from the folder of the file. Inputs without elements are not inputs of the
// Graph. One error of kind Unsupported lists every unsupported node, by name and operator.
Result<graph::Graph> import_file(const std::filesystem::path& path, const ImportOptions& options);
Result<graph::Graph> import_bytes(std::span<const std::byte> bytes,
                                  const std::filesystem::path& folder,
                                  const ImportOptions& options);

}  // namespace tilewright::onnx
