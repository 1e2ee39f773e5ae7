// Random legal schedules of a workload: a uniformly drawn sketch of its space (space/space.h), with
// its holes filled at random. Illegal traces and duplicates are dropped. The same task, count and
// seed give the same traces.
#pragma once

#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::space {

// `count` legal traces with distinct programs; fewer if no more are found. Empty for a Dag without
// any schedule.
std::vector<schedule::Trace> random_traces(const Task& task, size_t count, Rng& rng);

}  // namespace tilewright::space
