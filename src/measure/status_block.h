// StatusBlock: the activity of a worker process, in memory shared with its parent, which remains
// readable after the worker is dead. The worker writes; the parent reads after the worker died or
// was killed. It may contain arbitrary bytes after a fault, so the parent reads it through
// phase_text and detail_text, which never read out of bounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::measure {

struct StatusBlock {
  char phase[96];     // `lower: vectorize`, `check`, `time`
  int32_t signal;     // caught by the worker's handler; 0: none
  int32_t timed_out;  // not 0: the timer of the worker ended it
  int32_t kernel;     // index of the running kernel, for a job with several
  char detail[256];   // from the handler: `wrote 64 bytes behind the end of output Y`
};

// Async-signal-safe: no allocation; truncates.
void set_phase(StatusBlock& status, std::string_view phase);
void set_detail(StatusBlock& status, std::string_view detail);

std::string phase_text(const StatusBlock& status);
std::string detail_text(const StatusBlock& status);

}  // namespace tilewright::measure
