// Ctrl-C as a question: while an Interrupt lives, the first SIGINT or SIGTERM is only noted, so
// that the verb can stop cleanly; a second one ends the process as usual. One at a time.
#pragma once

#include <csignal>

namespace tilewright::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool requested();

 private:
  struct sigaction previous_interrupt_{};
  struct sigaction previous_terminate_{};
};

}  // namespace tilewright::cli
