// A comparison of a compiled model with other libraries, by the benches' harness: each participant
// in a process of its own, in turns. The harness is Python and lies in the source tree.
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
  std::filesystem::path library{};    // .so of it
  std::string peers{};                // `onnxruntime,openvino`
  std::string python{};               // program; empty: .venv of the source tree
  std::string input_shapes{};         // as for --input-shapes
  std::vector<std::string> inputs{};  // as for --input; others are random
  int threads = 0;                    // of each; 0: as the harness has it
  int rounds = 20;
  bool json = false;
};

// What can be found out without running anything, each an error that says what is missing and how
// to get it: a name that is no peer's; a model file, the harness or a Python that is not there.
Status check_peer_names(std::string_view peers);
Status check_peers_run(const PeersRun& run);

// What the harness printed.
Result<std::string> run_peers(const PeersRun& run, const StopToken& stop);

}  // namespace tilewright::app
