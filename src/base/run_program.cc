#include "base/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/clock.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tilewright {
namespace {

constexpr int kPollMs = 100;

constexpr int kFirstWaitMs = 1;

// Reads until the other end is closed; false if the time is over.
bool read_all(int fd, double end_s, const StopToken& stop, std::string* out) {
  std::array<char, 4096> buffer{};
  while (seconds_now() < end_s && !stop.requested()) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) out->append(buffer.data(), static_cast<size_t>(count));
  }
  return false;
}

// Waits for the child until the time limit, then kills it. Returns its status as from waitpid.
int reap(pid_t child, double end_s, const StopToken& stop) {
  int status = 0;
  for (int wait_ms = kFirstWaitMs; seconds_now() < end_s && !stop.requested();
       wait_ms = std::min(2 * wait_ms, kPollMs)) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return status;
    poll(nullptr, 0, wait_ms);
  }
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<EndedProgram> run_program(const std::vector<std::string>& words,
                                 const ProgramOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorKind::Io, "cannot create a pipe");
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (options.joins_errors) posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
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
  EndedProgram ended;
  const double end_s = seconds_now() + options.limit_s;
  if (!read_all(ends[0], end_s, options.stop, &ended.out)) kill(child, SIGKILL);
  close(ends[0]);
  ended.status = reap(child, end_s, options.stop);
  return ended;
}

}  // namespace tilewright
