// What the custom parts of a search make. A custom rule, template, explorer, model or encoding has
// a name, and the caller may change what is behind it; so it enters the key of a trajectory by what
// it makes: the sketches of the tasks' spaces, the first proposals, and predictions on a probe set
// (random programs with made-up latencies; a model that learns is trained on them). Proposals and
// predictions are of the first task that has a space. Built-in parts enter by their names, options
// and versions alone (hash_of in tune/task_tuner.h).
#pragma once

#include <span>

#include "base/hash.h"
#include "base/result.h"
#include "target/machine.h"
#include "tune/task_tuner.h"

namespace tilewright::tune {

// Zero if all parts are built-in. The same parts, tasks and machine give the same hash.
Result<Hash128> hash_of_custom_parts(const TaskTunerOptions& options, std::span<const Task> tasks,
                                     const Machine& machine);

}  // namespace tilewright::tune
