// Hashes of the custom parts of a search. A caller may change the code behind the name of a custom
// rule, template, explorer, model or encoding. The key of a trajectory therefore contains a hash of
// the results of such a part: the sketches of the tasks' spaces, the first proposals, and
// predictions on a probe set (random programs with made-up latencies, on which a learning model is
// trained). Built-in parts are identified by their names, options and versions.
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
