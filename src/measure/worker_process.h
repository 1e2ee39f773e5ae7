// WorkerProcess: the tuner's handle of one worker: its process, the socket to it, its StatusBlock
// and its stderr. The destructor kills and reaps the process. The worker has a separate process
// group (Ctrl-C in a terminal reaches only the tuner) and dies when the tuner does.
//
// Frames: 8 bytes of length, then the message (measure/messages). Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "measure/status_block.h"

namespace tilewright::measure {

struct WorkerOptions {
  std::filesystem::path program;
  int cpu = -1;        // the only CPU it may use; -1: any
  int64_t memory = 0;  // bytes of address space; 0: no limit
};

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerOptions& options);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  int pid() const { return pid_; }
  int fd() const { return socket_.get(); }  // to be polled for `events`
  short events() const;  // POLLIN, and POLLOUT while a part of a message is not sent
  const StatusBlock& status() const { return *status_; }

  // Clears the status and stderr of earlier jobs, then sends as much as the worker takes without
  // waiting; `receive` sends the rest. A worker that is dead or does not read takes nothing.
  void send(std::string_view message);

  // Sends and reads without waiting. Returns a complete reply, or nothing yet, or an error if the
  // worker has closed its end (it is dead or dying).
  Result<std::optional<std::string>> receive();

  // Kills the process if it is alive, and says how it ended: `killed by SIGSEGV`, `exited with
  // status 3`. Read the status block and stderr after this call.
  std::string reap(bool kill);
  int signal() const { return signal_; }  // that ended it, after reap; 0: none
  std::string stderr_tail() const;        // its last lines, at most about 1 KiB

 private:
  WorkerProcess() = default;
  void release();
  void send_rest();

  pid_t pid_ = -1;
  Descriptor socket_;
  Descriptor stderr_;
  int signal_ = 0;
  StatusBlock* status_ = nullptr;
  std::string received_;  // an incomplete frame
  std::string unsent_;    // frames that the worker has not taken
  size_t sent_ = 0;       // bytes of unsent_ that it has taken
};

}  // namespace tilewright::measure
