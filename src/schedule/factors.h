// The factors by which a step cuts its loop: those of a split, or of the splits it follows. They
// are read from the trace anew whenever tile sizes change.
#pragma once

#include "schedule/trace.h"

namespace tilewright::schedule {

// `step` is a split, follow_split or follow_fused_split of a trace whose structure is legal.
Factors factors_of(const Trace& trace, int16_t step);

}  // namespace tilewright::schedule
