// Translates the death of a worker into a verdict for its candidate. Pure functions.
#pragma once

#include "measure/messages.h"
#include "measure/worker.h"

namespace tilewright::measure {

// Killed by a user or by the out-of-memory killer: probably not caused by the candidate. Retry.
bool was_killed_externally(const WorkerEvent& event);

// For a build worker: build_timeout, or build with the signal, the last pass and its stderr.
BuildReply reply_of_death(const WorkerEvent& event, double timeout_s);

// For a run worker: run_timeout by its timer, crash with the signal and the handler's description,
// or device if it did not answer at all.
RunOutcome outcome_of_death(const WorkerEvent& event, const RunRequest& request);

}  // namespace tilewright::measure
