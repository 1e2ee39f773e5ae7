// What a run worker does when a kernel faults or does not come back: it notes what happened in the
// StatusBlock and dies of the true cause, so that the parent sees the signal. Everything here that
// runs after a fault is async-signal-safe.
//
// Faults of any thread are handled; on the thread that installed the handler also the overflow of
// its stack. The time limit is one for the process.
#pragma once

#include "measure/status_block.h"

namespace tilewright::measure {

inline constexpr int kTimedOutExit = 124;  // status of a process that its own timer ended

// SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP and SIGSYS, and the timer below. `status`
// outlives the process's use of it; installing again replaces it.
void install_crash_handler(StatusBlock& status);

// While one is alive the process ends (kTimedOutExit) when `timeout_ns` have passed since it was
// made: status.timed_out = 1, detail `ran longer than 200 ms`. 0: no limit. One at a time; after
// install_crash_handler.
class TimeLimit {
 public:
  explicit TimeLimit(double timeout_ns);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  bool armed_ = false;
};

}  // namespace tilewright::measure
