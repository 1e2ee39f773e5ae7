#include "measure/worker_side.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <optional>

#include "base/sanitizer.h"
#include "runtime/host/affinity.h"

namespace tilewright::measure {
namespace {

[[noreturn]] void refuse(const char* why) {
  std::fprintf(stderr, "this program is started by tilewright, not by hand: %s\n", why);
  std::exit(2);
}

// A field of /proc/self/statm, in bytes.
int64_t statm(int field) {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  for (int k = 0; k <= field; ++k) file >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Writes or reads all bytes; false if the parent has closed the socket.
bool read_all(void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = recv(kSocketFd, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = send(kSocketFd, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

std::optional<std::string> read_frame() {
  uint64_t bytes = 0;
  if (!read_all(&bytes, sizeof bytes)) return {};
  std::string message(bytes, '\0');
  if (!read_all(message.data(), bytes)) return {};
  return message;
}

bool write_frame(std::string_view message) {
  const uint64_t bytes = message.size();
  return write_all(&bytes, sizeof bytes) && write_all(message.data(), message.size());
}

}  // namespace

WorkerSetup set_up_worker(int argument_count, char** arguments) {
  if (argument_count != 4) refuse("its arguments are a pid, a CPU and a number of bytes");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(arguments[1])) refuse("its parent is another one");
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  void* const mapping =
      mmap(nullptr, sizeof(StatusBlock), PROT_READ | PROT_WRITE, MAP_SHARED, kStatusFd, 0);
  if (mapping == MAP_FAILED) refuse("there is no status block");
  WorkerSetup setup{.status = static_cast<StatusBlock*>(mapping),
                    .cpu = std::atoi(arguments[2]),
                    .memory = std::atoll(arguments[3])};
  if (setup.cpu >= 0) runtime::pin_current_thread(setup.cpu);
  limit_memory(setup.memory);
  return setup;
}

void limit_memory(int64_t bytes) {
  if (bytes <= 0 || kSanitized) return;
  const auto limit = static_cast<rlim_t>(bytes);
  const rlimit both{.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &both);
}

int64_t address_space_bytes() { return statm(0); }
int64_t resident_bytes() { return statm(1); }

void limit_cpu_time(double seconds) {
  const double whole = std::floor(seconds);
  const itimerval timer{.it_interval = {.tv_sec = 0, .tv_usec = 0},
                        .it_value = {.tv_sec = static_cast<time_t>(whole),
                                     .tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6)}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

int serve(const std::function<std::string(std::string_view)>& answer,
          const std::function<std::string(std::string_view)>& failed) {
  while (const std::optional<std::string> message = read_frame()) {
    std::string reply;
    try {
      reply = answer(*message);
    } catch (const std::bad_alloc&) {
      malloc_trim(0);
      reply = failed("out of memory");
    } catch (const std::exception& error) {
      reply = failed(error.what());
    }
    if (!write_frame(reply)) break;
  }
  return 0;
}

}  // namespace tilewright::measure
