// Compares a compiled model with other libraries through the harness of the benchmarks: each
// participant is a separate process, and they run in alternation. The harness is Python code: the
// folder bench of the source tree. It prints a table or JSON lines, which are passed on as they
// are: bench/models.py defines both.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"

namespace tilewright::app {

struct PeersRun {
  std::filesystem::path model{};      // .onnx
  std::filesystem::path library{};    // compiled from `model`
  std::string peers{};                // `onnxruntime,openvino`
  std::filesystem::path harness{};    // folder that contains models.py
  std::string python{};               // interpreter; empty: that of .venv next to the harness
  std::string input_shapes{};         // as in ModelChoice
  std::vector<std::string> inputs{};  // NAME=FILE.npy; the other inputs are random
  int threads = 0;                    // per participant; 0: default of the harness
  int rounds = 20;
  bool json = false;  // JSON lines instead of the table
};

// Checks that run nothing. Each error names what is missing and how to get it: an unknown peer, a
// missing model file, a missing harness or a missing Python.
Status check_peer_names(std::string_view peers);
Status check_peers_run(const PeersRun& run);

// Returns the output of the harness; empty after a stop.
Result<std::string> run_peers(const PeersRun& run, const StopToken& stop);

}  // namespace tilewright::app
