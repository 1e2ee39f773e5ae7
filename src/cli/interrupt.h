// Interrupt: Ctrl-C as a StopToken. During its lifetime, the first SIGINT or SIGTERM requests a
// stop, so that the verb ends cleanly; a second one ends the process as usual. A printer whose
// output is broken requests a stop too, which cli/run.cc reports. At most one exists at a time.
//
// The handler may run on any thread, also while the Interrupt ends: its source is never destroyed.
#pragma once

#include <csignal>

#include "base/stop_token.h"

namespace tilewright::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const StopSource& source() const { return *source_; }
  StopToken token() const { return source_->token(); }
  bool requested() const { return source_->requested(); }

 private:
  const StopSource* source_;
  struct sigaction previous_interrupt_{};
  struct sigaction previous_terminate_{};
};

}  // namespace tilewright::cli
