#include "cli/peers_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tilewright::cli {
namespace {

// The folder above this program that has bench/models.py.
Result<std::filesystem::path> source_tree() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error);
  while (!error && folder.has_relative_path()) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / "bench" / "models.py", error)) return folder;
  }
  return fail(ErrorKind::BadInput,
              "--peers needs the source tree: no folder above this program has bench/models.py");
}

struct Ended {
  int status = 0;
  std::string out;
};

Result<Ended> run_program(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorKind::Io, "there is no pipe left");
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(ErrorKind::Io, fmt::format("cannot start {}: {}", words[0],
                                           std::generic_category().message(error)));
  }
  Ended ended;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    ended.out.append(buffer.data(), static_cast<size_t>(count));
  }
  close(ends[0]);
  waitpid(child, &ended.status, 0);
  return ended;
}

struct Harness {
  std::string python;
  std::filesystem::path script;
};

Result<Harness> find_harness(const PeersRun& run) {
  const Result<std::filesystem::path> tree = source_tree();
  if (!tree) return std::unexpected(tree.error());
  Harness harness{.python = run.python, .script = *tree / "bench" / "models.py"};
  std::error_code error;
  if (!run.python.empty()) {
    // Without a '/' it is looked for as a shell does.
    const bool named = run.python.find('/') != std::string::npos;
    if (!named || access(run.python.c_str(), X_OK) == 0) return harness;
    return fail(ErrorKind::BadInput,
                fmt::format("--python {}: there is no such program", run.python));
  }
  harness.python = (*tree / ".venv" / "bin" / "python").string();
  if (std::filesystem::exists(harness.python, error)) return harness;
  return fail(ErrorKind::BadInput,
              fmt::format("--peers needs Python with the peers: there is no {}; `./dev bench` "
                          "makes it, or name one by --python",
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
          fmt::format("--peers {}: '{}' is none; there are onnxruntime and openvino", peers, name));
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
  const Result<Harness> harness = find_harness(run);
  return harness ? Status{} : std::unexpected(harness.error());
}

Result<std::string> run_peers(const PeersRun& run) {
  const Result<Harness> harness = find_harness(run);
  if (!harness) return std::unexpected(harness.error());
  std::error_code error;
  std::vector<std::string> words = {
      harness->python, harness->script.string(),
      "--match",       std::filesystem::absolute(run.model, error).string(),
      "--library",     std::filesystem::absolute(run.library, error).string(),
      "--peers",       run.peers,
      "--rounds",      fmt::format("{}", run.rounds)};
  if (!run.input_shapes.empty()) words.insert(words.end(), {"--input-shapes", run.input_shapes});
  for (const std::string& input : run.inputs) words.insert(words.end(), {"--input", input});
  if (run.threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", run.threads)});
  if (run.json) words.emplace_back("--json-lines");
  Result<Ended> ended = run_program(words);
  if (!ended) return std::unexpected(ended.error());
  if (ended->status != 0) {
    return fail(ErrorKind::BadInput,
                fmt::format("the comparison with {} failed:\n{}", run.peers, ended->out));
  }
  return std::move(ended->out);
}

}  // namespace tilewright::cli
