// Crash handling of a run worker: when a kernel faults or exceeds its time limit, the handler
// describes the event in the StatusBlock and the process dies of the original signal, so that the
// parent sees it. Everything that runs after a fault is async-signal-safe.
//
// Faults of all threads are handled; a stack overflow only on the thread that installed the
// handler. There is one time limit per process, with an optional earlier stage that ends the kernel
// alone.
#pragma once

#include "measure/status_block.h"

namespace tilewright::measure {

inline constexpr int kTimedOutExit = 124;  // exit status after a timeout

// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP and SIGSYS, and the timer below.
// `status` must stay valid until the process ends or another call replaces it.
void install_crash_handler(StatusBlock& status);

// While a TimeLimit exists, the process exits (kTimedOutExit) once `timeout_ns` have passed since
// its construction: status.timed_out = 1, detail `ran longer than 200 ms`. 0: no limit. If
// `cancel_ns` is positive and below that, parallel loops are cancelled from then on
// (tilewright_cancel_loops), until the TimeLimit is destroyed: no loop may run at that time. At
// most one at a time; requires install_crash_handler.
class TimeLimit {
 public:
  explicit TimeLimit(double timeout_ns, double cancel_ns = 0);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  bool cancelled() const;  // loops are cancelled

 private:
  bool armed_ = false;
};

}  // namespace tilewright::measure
