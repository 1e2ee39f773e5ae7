// Interrupt: Ctrl-C as a StopToken. During its lifetime, the first SIGINT or SIGTERM requests a
// stop, so that the verb ends cleanly; a second one ends the process as usual. At most one exists
// at a time.
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

  const StopSource& source() const { return source_; }
  StopToken token() const { return source_.token(); }
  static bool requested();  // by a signal; a stop may also have been requested otherwise

 private:
  StopSource source_;
  struct sigaction previous_interrupt_{};
  struct sigaction previous_terminate_{};
};

}  // namespace tilewright::cli
