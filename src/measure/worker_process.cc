#include "measure/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/system_error.h"
#include "measure/worker_side.h"

namespace tilewright::measure {
namespace {

constexpr uint64_t kLargestFrame = uint64_t{1} << 32;
constexpr int64_t kStderrKept = 1024;

// RAII for the two structures of posix_spawn.
struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

// The worker gets socket and status block at the descriptor numbers of worker_side.h. Descriptors
// are moved out of the way first: dup2 onto itself would leave close-on-exec set.
Result<pid_t> spawn(const WorkerOptions& options, int socket, int status, int errors) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, errors, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, errors, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, socket, kSocketFd);
  posix_spawn_file_actions_adddup2(&settings.actions, status, kStatusFd);
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string program = options.program.string();
  std::string parent = std::to_string(getpid());
  std::string cpu = std::to_string(options.cpu);
  std::string memory = std::to_string(options.memory);
  const std::array<char*, 5> words = {program.data(), parent.data(), cpu.data(), memory.data(),
                                      nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes,
                                words.data(), environ);
  if (error == 0) return pid;
  return fail(ErrorKind::Io,
              fmt::format("cannot start {}: {}; it belongs in the folder of the program tilewright",
                          program, system_reason(error)));
}

// The same file as a descriptor above those that the worker gets.
Descriptor above_worker_fds(int fd) {
  const Descriptor given(fd);
  return Descriptor(fcntl(given.get(), F_DUPFD_CLOEXEC, kStatusFd + 1));
}

std::string describe_end(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("killed by SIG{} ({})", name != nullptr ? name : std::to_string(signal),
                     sigdescr_np(signal) != nullptr ? sigdescr_np(signal) : "unknown signal");
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const WorkerOptions& options) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("cannot make a socket for a worker", errno);
  }
  WorkerProcess worker;
  worker.socket_ = Descriptor(ends[0]);
  const Descriptor theirs = above_worker_fds(ends[1]);
  const Descriptor status = above_worker_fds(memfd_create("tilewright-status", MFD_CLOEXEC));
  const Descriptor errors = above_worker_fds(memfd_create("tilewright-stderr", MFD_CLOEXEC));
  if (!theirs || !status || !errors || ftruncate(status.get(), sizeof(StatusBlock)) != 0) {
    return system_error("cannot make shared memory for a worker", errno);
  }
  fcntl(errors.get(), F_SETFL, O_APPEND);
  void* const mapping =
      mmap(nullptr, sizeof(StatusBlock), PROT_READ | PROT_WRITE, MAP_SHARED, status.get(), 0);
  if (mapping == MAP_FAILED) return system_error("cannot map shared memory of a worker", errno);
  worker.status_ = static_cast<StatusBlock*>(mapping);
  worker.stderr_ = Descriptor(fcntl(errors.get(), F_DUPFD_CLOEXEC, 0));

  worker.pid_ = TRY(spawn(options, theirs.get(), status.get(), errors.get()));
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      stderr_(std::move(other.stderr_)),
      signal_(other.signal_),
      status_(std::exchange(other.status_, nullptr)),
      received_(std::move(other.received_)),
      unsent_(std::move(other.unsent_)),
      sent_(std::exchange(other.sent_, 0)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this == &other) return *this;
  release();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::move(other.socket_);
  stderr_ = std::move(other.stderr_);
  signal_ = other.signal_;
  status_ = std::exchange(other.status_, nullptr);
  received_ = std::move(other.received_);
  unsent_ = std::move(other.unsent_);
  sent_ = std::exchange(other.sent_, 0);
  return *this;
}

WorkerProcess::~WorkerProcess() { release(); }

void WorkerProcess::release() {
  reap(true);
  socket_.close();
  stderr_.close();
  if (status_ != nullptr) munmap(status_, sizeof(StatusBlock));
  status_ = nullptr;
}

void WorkerProcess::send(std::string_view message) {
  *status_ = {};
  std::ignore = ftruncate(stderr_.get(), 0);
  const uint64_t bytes = message.size();
  std::array<char, sizeof bytes> length{};
  std::memcpy(length.data(), &bytes, sizeof bytes);
  unsent_.append(length.data(), length.size());
  unsent_ += message;
  send_rest();
}

void WorkerProcess::send_rest() {
  while (sent_ < unsent_.size()) {
    const ssize_t sent = ::send(socket_.get(), unsent_.data() + sent_, unsent_.size() - sent_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent <= 0) break;  // it is dead: receive reports it
    sent_ += static_cast<size_t>(sent);
  }
  unsent_.clear();
  sent_ = 0;
}

short WorkerProcess::events() const {
  return static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT);
}

Result<std::optional<std::string>> WorkerProcess::receive() {
  send_rest();
  std::array<char, 65536> buffer;
  bool ended = false;
  while (!ended) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    ended = got <= 0;
    if (!ended) received_.append(buffer.data(), static_cast<size_t>(got));
  }
  uint64_t bytes = 0;
  if (received_.size() >= sizeof bytes) {
    std::memcpy(&bytes, received_.data(), sizeof bytes);
    if (bytes > kLargestFrame) return fail(ErrorKind::Io, "the worker sent a malformed message");
    if (received_.size() >= sizeof bytes + bytes) {
      std::string message = received_.substr(sizeof bytes, bytes);
      received_.erase(0, sizeof bytes + bytes);
      return message;
    }
  }
  if (ended) return fail(ErrorKind::Io, "the worker has ended");
  return std::nullopt;
}

std::string WorkerProcess::reap(bool kill) {
  if (pid_ < 0) return "not running";
  if (kill) ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return describe_end(status);
}

std::string WorkerProcess::stderr_tail() const {
  const off_t size = lseek(stderr_.get(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - kStderrKept);
  std::string text(static_cast<size_t>(size - begin), '\0');
  const ssize_t got = pread(stderr_.get(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace tilewright::measure
