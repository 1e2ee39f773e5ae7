// What the death of a worker means for the candidate it was working on. Pure functions.
#pragma once

#include "measure/messages.h"
#include "measure/worker.h"

namespace tilewright::measure {

// Killed from outside, by somebody or for want of memory of the machine: not the candidate's doing,
// or not for certain. Worth a second try.
bool killed_externally(const WorkerEvent& event);

// Of a build worker: build_timeout, or build with the signal, the last pass and what it said.
BuildReply reply_of_death(const WorkerEvent& event, double timeout_s);

// Of a run worker: run_timeout by its own timer, crash with the signal and what the handler saw, or
// device when it did not answer at all.
RunOutcome outcome_of_death(const WorkerEvent& event, const RunRequest& request);

}  // namespace tilewright::measure
