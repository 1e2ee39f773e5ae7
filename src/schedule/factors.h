// The factors by which a step splits its loop: its own, or those of the splits it follows. They are
// read from the trace again whenever tile sizes change.
#pragma once

#include "schedule/trace.h"

namespace tilewright::schedule {

// `step` is a split, follow_split or follow_fused_split of a trace with a legal structure.
Factors factors_of(const Trace& trace, int16_t step);

}  // namespace tilewright::schedule
