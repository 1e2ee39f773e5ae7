// A comparison of a compiled model with other libraries, by the benches' harness: each participant
// in a process of its own, in turns. The harness is Python and lies in the source tree.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace tilewright::cli {

struct PeersRun {
  std::filesystem::path model;    // .onnx
  std::filesystem::path library;  // .so of it
  std::string peers;              // `onnxruntime,openvino`
  std::string python;             // program; empty: .venv of the source tree
  std::string input_shapes;       // as for --input-shapes
  int rounds = 20;
  bool json = false;
};

// What the harness printed. An error says what is missing and how to get it.
Result<std::string> run_peers(const PeersRun& run);

}  // namespace tilewright::cli
