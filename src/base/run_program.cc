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

#include "base/clock.h"
#include "base/system_error.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tilewright {
namespace {

constexpr int kPollMs = 100;

constexpr int kFirstWaitMs = 1;

constexpr size_t kPipeBytes = 65536;  // what a pipe holds

enum class Reading { Nothing, Some, End };

// One read, after at most `wait_ms`.
Reading read_some(int fd, int wait_ms, std::string* out) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, wait_ms) <= 0) return Reading::Nothing;
  std::array<char, 4096> buffer{};
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count == 0 || (count < 0 && errno != EINTR)) return Reading::End;
  if (count > 0) out->append(buffer.data(), static_cast<size_t>(count));
  return Reading::Some;
}

// Reads until the other end is closed; false if the time is over.
bool read_all(int fd, double end_s, const StopToken& stop, std::string* out) {
  while (seconds_now() < end_s && !stop.requested()) {
    if (read_some(fd, kPollMs, out) == Reading::End) return true;
  }
  return false;
}

// Reads what the pipe still holds, without waiting. The bound is for descendants that go on
// writing.
void read_rest(int fd, std::string* out) {
  const size_t enough = out->size() + kPipeBytes;
  while (out->size() < enough && read_some(fd, 0, out) == Reading::Some) {
  }
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
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot create a pipe", errno);
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
    return system_error(fmt::format("cannot start {}", words[0]), error);
  }
  EndedProgram ended;
  const double end_s = seconds_now() + options.limit_s;
  if (!read_all(ends[0], end_s, options.stop, &ended.out)) {
    kill(child, SIGKILL);
    read_rest(ends[0], &ended.out);
  }
  close(ends[0]);
  ended.status = reap(child, end_s, options.stop);
  return ended;
}

}  // namespace tilewright
