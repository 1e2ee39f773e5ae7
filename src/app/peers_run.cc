#include "app/peers_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/run_program.h"

namespace tilewright::app {
namespace {

struct Harness {
  std::string python;
  std::filesystem::path script;
};

Result<Harness> find_harness(const PeersRun& run) {
  std::error_code error;
  const auto no_harness = [](const std::string& why) {
    return fail(ErrorKind::BadInput,
                fmt::format("peers need the folder bench of the source tree, {}", why),
                {{"harness", "FOLDER"}});
  };
  if (run.harness.empty()) return no_harness("and no folder is given");
  Harness harness{.python = run.python, .script = run.harness / "models.py"};
  if (!std::filesystem::exists(harness.script, error)) {
    return no_harness(fmt::format("but there is no {}", harness.script.string()));
  }
  if (!run.python.empty()) {
    // Without a '/', it is looked up in PATH.
    const bool named = run.python.find('/') != std::string::npos;
    if (!named || access(run.python.c_str(), X_OK) == 0) return harness;
    return fail(ErrorKind::BadInput,
                fmt::format("Python {}: there is no such program", run.python));
  }
  harness.python = (run.harness / ".." / ".venv" / "bin" / "python").lexically_normal().string();
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
