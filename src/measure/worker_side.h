// What both kinds of worker process have in common: how they are set up when they start, and the
// loop that answers messages. A worker is started by WorkerProcess with its parent's pid, a cpu and
// a memory limit as arguments, the socket and the status block as open files.
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
  StatusBlock* status = nullptr;  // shared with the parent; lives as long as the process
  int cpu = -1;
  int64_t memory = 0;
};

// Dies with its parent, leaves no core file, keeps to its cpu and its memory. Ends the process with
// a line on stderr when it was not started by a WorkerProcess.
WorkerSetup set_up_worker(int argument_count, char** arguments);

// The address space of this process from now on; 0 leaves it as it is. Nothing under a sanitizer,
// which needs terabytes of it.
void limit_memory(int64_t bytes);
int64_t address_space_bytes();  // in use now
int64_t resident_bytes();

// Ends the process by SIGPROF when it has used so much CPU time from now on; 0 takes that back.
void limit_cpu_time(double seconds);

// Answers messages until the parent closes the socket. `answer` may throw what it likes: the text
// of an exception is handed to `failed`, whose reply is sent instead.
int serve(const std::function<std::string(std::string_view message)>& answer,
          const std::function<std::string(std::string_view error)>& failed);

}  // namespace tilewright::measure
