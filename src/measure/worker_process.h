// WorkerProcess: the tuner's end of one worker: its process, the socket to it, its StatusBlock and
// what it wrote to stderr. Killed and reaped on destruction. The worker is in a process group of
// its own (Ctrl-C of a terminal is the tuner's affair) and dies when the tuner does.
//
// Frames: 8 bytes of length, then the message (measure/messages). Not to be shared between threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "measure/status_block.h"

namespace tilewright::measure {

struct WorkerOptions {
  std::filesystem::path program;
  int cpu = -1;        // the only cpu it may use; -1: any
  int64_t memory = 0;  // bytes of address space; 0: no limit yet
};

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerOptions& options);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  int pid() const { return pid_; }
  int fd() const { return fd_; }  // to be polled for reading
  const StatusBlock& status() const { return *status_; }

  // Forgets what earlier jobs left in the status and on stderr, then sends. False when the worker
  // is gone: reap says how.
  bool send(std::string_view message);

  // Reads what is there without waiting. A whole reply, nothing yet, or an error when the worker
  // has closed its end (it is dead or dying).
  Result<std::optional<std::string>> receive();

  // Kills it if it lives, and says how it ended: `killed by SIGSEGV`, `exited with status 3`. What
  // the status block and stderr say is to be asked for after that.
  std::string reap(bool kill);
  int signal() const { return signal_; }  // that ended it, once reaped; 0: none
  std::string stderr_tail() const;        // the last lines it wrote, at most about 1 KiB

 private:
  WorkerProcess() = default;
  void release();

  pid_t pid_ = -1;
  int fd_ = -1;
  int stderr_fd_ = -1;
  int signal_ = 0;
  StatusBlock* status_ = nullptr;
  std::string received_;  // of a frame that is not complete
};

}  // namespace tilewright::measure
