// Random legal schedules of any workload: a sketch of its space (space/space.h), each as likely,
// its holes filled at random; what applies and is a program of its own is kept. The same task,
// count and seed give the same traces.
#pragma once

#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::space {

// `count` legal traces, no two of which mean the same program; fewer when no more are found. None
// for a Dag that has no schedule at all.
std::vector<schedule::Trace> random_traces(const Task& task, size_t count, Rng& rng);

}  // namespace tilewright::space
