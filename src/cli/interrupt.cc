#include "cli/interrupt.h"

#include <atomic>

namespace tilewright::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
std::atomic<const StopSource*> source_of_handler = nullptr;

extern "C" void note_interrupt(int) {
  interrupted = 1;
  if (const StopSource* const source = source_of_handler.load()) source->request();
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  source_of_handler = &source_;
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  // Not SA_RESTART: a blocking call must return, so that the request is seen.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
  source_of_handler = nullptr;
}

bool Interrupt::requested() { return interrupted != 0; }

}  // namespace tilewright::cli
