// StatusBlock: what a worker process is doing, in memory that it shares with its parent, so that it
// can still be read when the worker is dead. The worker writes, the parent reads after the worker
// has died or was killed. Plain bytes: a worker gone wild may have written anything, so the parent
// reads through phase_text and detail_text, which never run past the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::measure {

struct StatusBlock {
  char phase[96];     // `lower: vectorize`, `check`, `time`
  int32_t signal;     // that the worker's handler caught; 0: none
  int32_t timed_out;  // not 0: the worker's own timer ended it
  int32_t kernel;     // of several of one job: which is at work
  char detail[256];   // what the handler knows: `wrote 64 bytes behind the end of output Y`
};

// Safe in a signal handler: no allocation, cut to what fits.
void set_phase(StatusBlock& status, std::string_view phase);
void set_detail(StatusBlock& status, std::string_view detail);

std::string phase_text(const StatusBlock& status);
std::string detail_text(const StatusBlock& status);

}  // namespace tilewright::measure
