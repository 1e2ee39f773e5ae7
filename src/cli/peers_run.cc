#include "cli/peers_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace

Result<std::string> run_peers(const PeersRun& run) {
  const Result<std::filesystem::path> tree = source_tree();
  if (!tree) return std::unexpected(tree.error());
  const std::filesystem::path own = *tree / ".venv" / "bin" / "python";
  std::error_code error;
  if (run.python.empty() && !std::filesystem::exists(own, error)) {
    return fail(ErrorKind::BadInput,
                fmt::format("--peers needs Python with the peers: there is no {}; `./dev bench` "
                            "makes it, or name one by --python",
                            own.string()));
  }
  std::vector<std::string> words = {run.python.empty() ? own.string() : run.python,
                                    (*tree / "bench" / "models.py").string(),
                                    "--match",
                                    std::filesystem::absolute(run.model, error).string(),
                                    "--library",
                                    std::filesystem::absolute(run.library, error).string(),
                                    "--peers",
                                    run.peers,
                                    "--rounds",
                                    fmt::format("{}", run.rounds)};
  if (!run.input_shapes.empty()) words.insert(words.end(), {"--input-shapes", run.input_shapes});
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
