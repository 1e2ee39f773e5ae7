#include "cli/interrupt.h"

#include <atomic>
#include <deque>

namespace tilewright::cli {
namespace {

std::atomic<const StopSource*> source_of_handler = nullptr;
static_assert(std::atomic<const StopSource*>::is_always_lock_free);

const StopSource* new_source() {
  static auto* const sources = new std::deque<StopSource>;  // never destroyed: see the header
  return &sources->emplace_back();
}

extern "C" void note_interrupt(int) {
  if (const StopSource* const source = source_of_handler.load()) source->request();
}

}  // namespace

Interrupt::Interrupt() : source_(new_source()) {
  source_of_handler = source_;
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

}  // namespace tilewright::cli
