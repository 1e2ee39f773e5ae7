#include "app/peers_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/run_program.h"

#include "app/workers.h"

namespace tilewright::app {
namespace {

// The parent folder of this program that contains bench/models.py.
Result<std::filesystem::path> source_tree() {
  std::error_code error;
  std::filesystem::path folder = TRY(program_folder()) / "program";
  while (!error && folder.has_relative_path()) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / "bench" / "models.py", error)) return folder;
  }
  return fail(ErrorKind::BadInput,
              "peers need the source tree: no folder above this program has bench/models.py");
}

struct Harness {
  std::string python;
  std::filesystem::path script;
};

Result<Harness> find_harness(const PeersRun& run) {
  const std::filesystem::path tree = TRY(source_tree());
  Harness harness{.python = run.python, .script = tree / "bench" / "models.py"};
  std::error_code error;
  if (!run.python.empty()) {
    // Without a '/', it is looked up in PATH.
    const bool named = run.python.find('/') != std::string::npos;
    if (!named || access(run.python.c_str(), X_OK) == 0) return harness;
    return fail(ErrorKind::BadInput,
                fmt::format("Python {}: there is no such program", run.python));
  }
  harness.python = (tree / ".venv" / "bin" / "python").string();
  if (std::filesystem::exists(harness.python, error)) return harness;
  return fail(ErrorKind::BadInput,
              fmt::format("peers need a Python that has them: there is no {}; `./dev bench` "
                          "makes it, or name another Python",
                          harness.python));
}

}  // namespace

Status check_peer_names(std::string_view peers) {
  for (size_t begin = 0; begin <= peers.size();) {
    const size_t end = std::min(peers.find(',', begin), peers.size());
    const std::string_view name = peers.substr(begin, end - begin);
    if (name != "onnxruntime" && name != "openvino") {
      return fail(
          ErrorKind::BadInput,
          fmt::format("peers {}: '{}' is not a peer; the peers are onnxruntime and openvino", peers,
                      name));
    }
    begin = end + 1;
  }
  return {};
}

Status check_peers_run(const PeersRun& run) {
  std::error_code error;
  if (!std::filesystem::exists(run.model, error)) {
    return fail(ErrorKind::BadInput,
                fmt::format("{}: there is no such file for the peers", run.model.string()));
  }
  TRY(find_harness(run));
  return {};
}

Result<std::string> run_peers(const PeersRun& run, const StopToken& stop) {
  const Harness harness = TRY(find_harness(run));
  std::error_code error;
  std::vector<std::string> words = {
      harness.python, harness.script.string(),
      "--match",      std::filesystem::absolute(run.model, error).string(),
      "--library",    std::filesystem::absolute(run.library, error).string(),
      "--peers",      run.peers,
      "--rounds",     fmt::format("{}", run.rounds)};
  if (!run.input_shapes.empty()) words.insert(words.end(), {"--input-shapes", run.input_shapes});
  for (const std::string& input : run.inputs) words.insert(words.end(), {"--input", input});
  if (run.threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", run.threads)});
  if (run.json) words.emplace_back("--json-lines");
  EndedProgram ended = TRY(run_program(words, {.stop = stop}));
  if (stop.requested()) return std::string();
  if (ended.status != 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("the comparison with {} failed:\n{}", run.peers, ended.out));
  }
  return std::move(ended.out);
}

}  // namespace tilewright::app
