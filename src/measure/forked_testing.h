// For tests of fatal errors: runs a function in a child process, with a StatusBlock shared by both.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "measure/crash_handler.h"
#include "measure/status_block.h"

namespace tilewright::measure {

struct Death {
  int signal = 0;  // 0: exited normally
  int exit_code = 0;
  StatusBlock status{};
};

// The child exits with status 0 when `body` returns. It has no other thread of the parent.
template <class Body>
Death run_forked(const Body& body) {
  void* shared =
      mmap(nullptr, sizeof(StatusBlock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* status = new (shared) StatusBlock{};
  const pid_t child = fork();
  if (child == 0) {
    install_crash_handler(*status);
    body();
    _exit(0);
  }
  int end = 0;
  waitpid(child, &end, 0);
  const Death death{.signal = WIFSIGNALED(end) ? WTERMSIG(end) : 0,
                    .exit_code = WIFEXITED(end) ? WEXITSTATUS(end) : -1,
                    .status = *status};
  munmap(shared, sizeof(StatusBlock));
  return death;
}

}  // namespace tilewright::measure
