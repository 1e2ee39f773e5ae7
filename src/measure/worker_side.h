// Shared by both kinds of worker process: initialization, and the loop that answers messages.
// WorkerProcess starts a worker with its parent's pid, a CPU and a memory limit as arguments, and
// the socket and the status block as open files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "measure/status_block.h"

namespace tilewright::measure {

inline constexpr int kSocketFd = 3;
inline constexpr int kStatusFd = 4;

struct WorkerSetup {
  StatusBlock* status = nullptr;  // shared with the parent; valid until the process ends
  int cpu = -1;
  int64_t memory = 0;
};

// Makes the process die with its parent, leave no core file, and stay on its CPU and within its
// memory limit. Ends the process with a line on stderr if it was not started by a WorkerProcess.
WorkerSetup set_up_worker(int argument_count, char** arguments);

// Limits the address space of this process; 0: no change. No effect under a sanitizer, which needs
// terabytes of address space.
void limit_memory(int64_t bytes);
int64_t address_space_bytes();  // current size
int64_t resident_bytes();

// Ends the process by SIGPROF after this much more CPU time; 0: removes the limit.
void limit_cpu_time(double seconds);

// Answers messages until the parent closes the socket. If `answer` throws, the text of the
// exception is passed to `failed`, whose reply is sent instead.
int serve(const std::function<std::string(std::string_view message)>& answer,
          const std::function<std::string(std::string_view error)>& failed);

}  // namespace tilewright::measure
